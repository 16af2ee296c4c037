# What the scripts that run clients share. A script that sources it gets `root`, its arguments `what`, `repository` and perhaps `data`, stands
# in `scratch`, and can `extract` a commit.

# The folder changes below.
script=$(realpath "$0")
# The lines of the script's head that say how it is called.
usage() {
	sed -nE '/^# (usage: |       )scripts\//s/^# //p' "$script" >&2
	exit 2
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
what=${1:-} repository=${2:-}
[[ -n $what && -n $repository ]] || usage
repository=$(cd "$repository" && pwd)
data=${3:+$(cd "$3" && pwd)}
if [[ -n ${SCRATCH:-} ]]; then
	mkdir -p "$SCRATCH"
	scratch=$(cd "$SCRATCH" && pwd)
else
	scratch=$(mktemp -d)
	trap 'rm -rf "$scratch"' EXIT
fi
cd "$scratch"

# Path by path, so that a clone may lack other files.
extract() { # commit, folder, paths
	rm -rf "$2" && mkdir -p "$2"
	for path in "${@:3}"; do
		mkdir -p "$2/$(dirname "$path")"
		if [[ $(git -C "$repository" cat-file -t "$1:$path") = tree ]]; then
			git -C "$repository" archive --prefix="$path/" "$1:$path" | tar -x -C "$2"
		else
			git -C "$repository" show "$1:$path" > "$2/$path"
		fi
	done
}
