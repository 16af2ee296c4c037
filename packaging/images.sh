#!/usr/bin/env bash
# Images of the programs in a folder that `packaging/programs.sh` made, one a program, as OCI archives. No daemon runs, and nothing is
# downloaded.
#
#   packaging/images.sh TREE ARCHITECTURE FOLDER [PROGRAM…]          by default every program
#
# `podman load --input ARCHIVE`, `docker load --input ARCHIVE` and `skopeo copy oci-archive:ARCHIVE …` read them.
source "$(dirname "$0")/common.sh"
needs images
tree=$1 architecture=$2
[[ $# -le 3 ]] || programs=("${@:4}")
mkdir -p "$3"
out=$(realpath "$3")
work=$(mktemp -d)
buildah=(buildah --root "$work/storage" --runroot "$work/run" --storage-driver vfs)
trap '"${buildah[@]}" rm --all > /dev/null 2>&1 || true; rm -rf "$work"' EXIT
mkdir -p "$work/context/empty" "$work/context/certificates" "$work/context/licences"
cp -r "$tree/bin" "$work/context/bin"
# quorate's own licences, and those of what the programs are linked with.
install --mode 644 "$tree"/share/doc/quorate/LICEN?E* "$work/context/licences"
# Debian's list, and not the one of this machine in /etc/ssl: that one also has the private authorities that somebody has added here.
(LC_ALL=C && cat "$authorities"/*.crt) > "$work/context/certificates/ca-certificates.crt"
for program in "${programs[@]}"; do
    [[ -e $tree/bin/$program ]] || continue
    name=$program:$version
    "${buildah[@]}" build --quiet --format oci --isolation chroot --pull-never --arch "$architecture" \
        --timestamp "$SOURCE_DATE_EPOCH" --label "org.opencontainers.image.source=$repository" \
        --label "org.opencontainers.image.version=$version" --label "org.opencontainers.image.licenses=$(field license)" \
        --target "${program#quorate-}" --file packaging/Containerfile --tag "$name" "$work/context" > /dev/null
    folder=$work/$program
    "${buildah[@]}" push --quiet "$name" "oci:$folder:$name"
    # An older `docker load` reads no index.json, but this list of the same blobs.
    manifest=$folder/blobs/$(jq --raw-output '.manifests[0].digest | sub(":"; "/")' "$folder/index.json")
    jq --compact-output --arg name "$name" 'def blob: .digest | "blobs/" + sub(":"; "/");
        [{Config: .config | blob, RepoTags: [$name], Layers: .layers | map(blob)}]' "$manifest" > "$folder/manifest.json"
    # buildah's own archive has the time at which it was written.
    archive=$out/$program-$version-$architecture.oci.tar
    tar --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
        --directory "$folder" --create --file "$archive" .
done
