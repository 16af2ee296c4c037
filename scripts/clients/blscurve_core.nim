## nim-blscurve's `blst/blst_min_pubkey_sig_core`, over libquorate. Public keys and signatures are their compressed encodings. blst keeps
## what libquorate does not have: the arithmetic of shared secrets, keys by EIP-2333, uncompressed encodings, and `combine`.

import
  std/locks,
  stew/byteutils,
  ./blst_lowlevel, ./sha256_abi

type
  SecretKey* = object
    scalar: blst_scalar
  # Memory of zeros is the identity, as it is of blst's points.
  PublicKey* = object
    bytes: array[48, byte]
  Signature* = object
    bytes: array[96, byte]
  ProofOfPossession* = object
    bytes: array[96, byte]
  AggregateSignature* = object
    parts: seq[Signature]
  AggregatePublicKey* = object
    parts: seq[PublicKey]

# libquorate
# ----------------------------------------------------------------------

type
  Bytes* {.importc: "struct quorate_bytes", header: "quorate.h", bycopy.} = object
    data*: ptr byte
    size*: csize_t
  # With every field, because Nim does not write to others.
  Claim* {.importc: "struct quorate_claim", header: "quorate.h", bycopy.} = object
    suite*, kind*: uint32
    public_keys*: ptr Bytes
    public_key_count*: csize_t
    messages*: ptr Bytes
    message_count*: csize_t
    signature*, source*: Bytes
    key_set: uint64
    members: Bytes
    indices: ptr uint32
    index_count: csize_t
  Options {.importc: "struct quorate_options", header: "quorate.h", bycopy.} = object
    threads, soundness: uint32
    backend: cstring
    backend_size: csize_t
    most_known: uint64
  Verifier {.importc: "struct quorate_verifier", header: "quorate.h", incompleteStruct.} = object
  Secret {.importc: "struct quorate_secret_key", header: "quorate.h", incompleteStruct.} = object

const
  shared* = 0'u32
  each = 1'u32
  possession = 2'u32
  valid = 1'u8
  misuse = 4'i32
  signatureTag = "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_"
  possessionTag = "BLS_POP_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_"

{.push importc, header: "quorate.h", raises: [], gcsafe, noSideEffect.}
proc quorate_suite(name: cstring, size: csize_t, suite: ptr uint32, error: pointer): int32
proc quorate_verifier_new(options: ptr Options, verifier: ptr ptr Verifier, error: pointer): int32
proc quorate_verify(
  verifier: ptr Verifier, claims: ptr Claim, count: csize_t, remember: bool, verdicts: ptr uint8, reasons, error: pointer): int32
proc quorate_verifier_aggregate_public_keys(
  verifier: ptr Verifier, suite: uint32, keys: ptr byte, size: csize_t, sum: ptr byte, room: csize_t, error: pointer): int32
proc quorate_check_public_key(suite: uint32, key: ptr byte, size: csize_t, error: pointer): int32
proc quorate_check_signature(suite: uint32, signature: ptr byte, size: csize_t, error: pointer): int32
proc quorate_aggregate_checked(
  suite: uint32, signatures: ptr byte, size: csize_t, sum: ptr byte, room: csize_t, error: pointer): int32
proc quorate_subtract(suite: uint32, sum, parts: Bytes, rest: ptr byte, room: csize_t, error: pointer): int32
proc quorate_secret_key_from_bytes(
  suite: uint32, bytes: ptr byte, size: csize_t, secret: ptr ptr Secret, error: pointer): int32
proc quorate_secret_key_public_key(secret: ptr Secret, key: ptr byte, size: csize_t, error: pointer): int32
proc quorate_secret_key_sign(
  secret: ptr Secret, message: ptr byte, size: csize_t, signature: ptr byte, room: csize_t, error: pointer): int32
proc quorate_secret_key_prove(secret: ptr Secret, proof: ptr byte, size: csize_t, error: pointer): int32
proc quorate_secret_key_free(secret: ptr Secret)
{.pop.}

proc suiteOf(name: string): uint32 =
  doAssert quorate_suite(name.cstring, name.len.csize_t, result.addr, nil) == 0, "libquorate has no suite " & name

let eth2Suite = suiteOf("eth2")

func eth2*(): uint32 =
  {.cast(noSideEffect), cast(gcsafe).}: eth2Suite

# One verifier for each number of threads, for as long as the process runs. It keeps the keys that it decoded.
const mostThreads = 64
var
  verifiers: array[mostThreads + 1, ptr Verifier]
  making: Lock
initLock(making)

func verifier(threads: int): ptr Verifier =
  {.cast(noSideEffect), cast(gcsafe).}:
    let threads = clamp(threads, 1, mostThreads)
    withLock(making):
      if verifiers[threads].isNil:
        var options = Options(threads: threads.uint32)
        doAssert quorate_verifier_new(options.addr, verifiers[threads].addr, nil) == 0, "libquorate starts no verifier"
      result = verifiers[threads]

func view*[T: byte|char](bytes: openArray[T]): Bytes =
  if bytes.len > 0:
    result = Bytes(data: cast[ptr byte](bytes[0].unsafeAddr), size: bytes.len.csize_t)

func view*(point: PublicKey or Signature or ProofOfPossession): Bytes =
  Bytes(data: point.bytes[0].unsafeAddr, size: point.bytes.len.csize_t)

func hold*(claims: openArray[Claim], threads = 1): bool =
  ## Whether there are claims, and all of them are true.
  if claims.len == 0:
    return false
  var verdicts = newSeq[uint8](claims.len)
  let code = quorate_verify(
    verifier(threads), claims[0].unsafeAddr, claims.len.csize_t, false, verdicts[0].addr, nil, nil)
  doAssert code == 0, "libquorate cannot verify"
  for verdict in verdicts:
    if verdict != valid:
      return false
  true

# IO
# ----------------------------------------------------------------------

func readable[N: static int](bytes: array[N, byte]): array[N, byte] =
  result = bytes
  if result[0] == 0:
    result[0] = 0xc0

func encoding(key: PublicKey): array[48, byte] = readable(key.bytes)
func encoding(signature: Signature or ProofOfPossession): array[96, byte] = readable(signature.bytes)

func isIdentity(point: PublicKey or Signature or ProofOfPossession): bool =
  (point.encoding[0] and 0x40) != 0

func `==`*(a, b: SecretKey): bool {.error: "Comparing secret keys is not allowed".}

func `==`*(a, b: PublicKey or Signature or ProofOfPossession): bool =
  a.encoding == b.encoding

func exportRaw*(secretKey: SecretKey): array[32, byte] =
  blst_bendian_from_scalar(result, toCC(secretKey.scalar, cblst_scalar))

func exportRaw*(publicKey: PublicKey): array[48, byte] = publicKey.encoding

func exportRaw*(signature: Signature): array[96, byte] = signature.encoding

func serialize*(dst: var array[32, byte], obj: SecretKey): bool =
  dst = obj.exportRaw
  true

func serialize*(dst: var array[48, byte], obj: PublicKey): bool =
  dst = obj.encoding
  true

func serialize*(dst: var array[96, byte], obj: Signature|ProofOfPossession): bool =
  dst = obj.encoding
  true

func rawFromPublic*(raw: var array[48, byte], pubkey: PublicKey) =
  raw = pubkey.encoding

func holds(code: BLST_ERROR): bool = code == BLST_SUCCESS

func affine(key: PublicKey): blst_p1_affine =
  doAssert blst_p1_uncompress(toCV(result, cblst_p1_affine), key.encoding).holds

func affine(signature: Signature|ProofOfPossession): blst_p2_affine =
  doAssert blst_p2_uncompress(toCV(result, cblst_p2_affine), signature.encoding).holds

func exportUncompressed*(publicKey: PublicKey): array[96, byte] =
  let point = publicKey.affine
  blst_p1_affine_serialize(result, toCC(point, cblst_p1_affine))

func exportUncompressed*(signature: Signature|ProofOfPossession): array[192, byte] =
  let point = signature.affine
  blst_p2_affine_serialize(result, toCC(point, cblst_p2_affine))

func serialize*(dst: var array[96, byte], obj: PublicKey): bool =
  dst = obj.exportUncompressed
  true

func serialize*(dst: var array[192, byte], obj: Signature|ProofOfPossession): bool =
  dst = obj.exportUncompressed
  true

func fromBytesKnownOnCurve*(obj: var PublicKey, raw: array[48, byte] or array[96, byte]): bool =
  ## Its subgroup is not checked. Whatever verifies with the key checks it, once for each key.
  var point: blst_p1_affine
  let code =
    when raw.len == 48: blst_p1_uncompress(toCV(point, cblst_p1_affine), raw)
    else: blst_p1_deserialize(toCV(point, cblst_p1_affine), raw)
  if not code.holds or bool(blst_p1_affine_is_inf(toCC(point, cblst_p1_affine))):
    return false
  blst_p1_affine_compress(obj.bytes, toCC(point, cblst_p1_affine))
  true

func fromBytesKnownOnCurve*(obj: var (Signature|ProofOfPossession), raw: array[96, byte] or array[192, byte]): bool =
  ## Its subgroup is not checked. Whatever verifies it does so.
  var point: blst_p2_affine
  let code =
    when raw.len == 96: blst_p2_uncompress(toCV(point, cblst_p2_affine), raw)
    else: blst_p2_deserialize(toCV(point, cblst_p2_affine), raw)
  if not code.holds:
    return false
  blst_p2_affine_compress(obj.bytes, toCC(point, cblst_p2_affine))
  true

func fromBytes*(obj: var PublicKey, raw: array[48, byte] or array[96, byte]): bool =
  when raw.len == 48:
    obj.bytes = raw
  else:
    if not obj.fromBytesKnownOnCurve(raw):
      return false
  quorate_check_public_key(eth2(), obj.bytes[0].addr, 48, nil) == 0

func fromBytes*(obj: var (Signature|ProofOfPossession), raw: array[96, byte] or array[192, byte]): bool =
  when raw.len == 96:
    obj.bytes = raw
  else:
    if not obj.fromBytesKnownOnCurve(raw):
      return false
  quorate_check_signature(eth2(), obj.bytes[0].addr, 96, nil) == 0

func fromBytes*(obj: var (PublicKey|Signature|ProofOfPossession), raw: openArray[byte]): bool =
  const compressed = obj.bytes.len
  if raw.len == compressed:
    obj.fromBytes(cast[ptr array[compressed, byte]](raw[0].unsafeAddr)[])
  elif raw.len == 2 * compressed:
    obj.fromBytes(cast[ptr array[2 * compressed, byte]](raw[0].unsafeAddr)[])
  else:
    false

func fromBytes*(obj: var SecretKey, raw: openArray[byte] or array[32, byte]): bool =
  if raw.len != 32:
    return false
  blst_scalar_from_bendian(toCV(obj.scalar, cblst_scalar), cast[ptr array[32, byte]](raw[0].unsafeAddr)[])
  bool(blst_sk_check(toCC(obj.scalar, cblst_scalar)))

func fromHex*(obj: var (SecretKey|PublicKey|Signature|ProofOfPossession), hexStr: string): bool =
  try:
    when obj is SecretKey:
      obj.fromBytes(hexToPaddedByteArray[32](hexStr))
    elif obj is PublicKey:
      if hexStr.len == 192: obj.fromBytes(hexToPaddedByteArray[96](hexStr))
      else: obj.fromBytes(hexToPaddedByteArray[48](hexStr))
    else:
      obj.fromBytes(hexToPaddedByteArray[96](hexStr))
  except ValueError:
    false

# Secrets
# ----------------------------------------------------------------------

template withSecret(secretKey: SecretKey, secret, body: untyped) =
  var bytes = secretKey.exportRaw
  var secret: ptr Secret
  let code = quorate_secret_key_from_bytes(eth2(), bytes[0].addr, 32, secret.addr, nil)
  bytes.vec_zero()
  doAssert code == 0, "this secret key was not made by a function of this library"
  body
  quorate_secret_key_free(secret)

func publicFromSecret*(pubkey: var PublicKey, seckey: SecretKey): bool =
  if not bool(blst_sk_check(toCC(seckey.scalar, cblst_scalar))):
    return false
  withSecret(seckey, secret):
    result = quorate_secret_key_public_key(secret, pubkey.bytes[0].addr, 48, nil) == 0

func coreSign*[T: byte|char](
    signature: var (Signature or ProofOfPossession), secretKey: SecretKey, message: openArray[T], domainSepTag: static string) =
  withSecret(secretKey, secret):
    when domainSepTag == signatureTag:
      let bytes = message.view
      doAssert quorate_secret_key_sign(secret, bytes.data, bytes.size, signature.bytes[0].addr, 96, nil) == 0
    elif domainSepTag == possessionTag:
      var key: PublicKey
      doAssert key.publicFromSecret(secretKey) and @(key.encoding) == @message, "a proof is of the key's own encoding"
      doAssert quorate_secret_key_prove(secret, signature.bytes[0].addr, 96, nil) == 0
    else:
      {.error: "there is no suite with this tag".}

# Sums
# ----------------------------------------------------------------------

func total(keys: openArray[PublicKey]): PublicKey =
  ## Zeros if it is the identity. If a key is no key, the sum is bytes that do not decode, so it makes no other sum a key, and nothing is
  ## valid under it. The identity among several keys is no key.
  var identities = true
  for key in keys:
    identities = identities and key.isIdentity
  if identities:
    return
  let code = quorate_verifier_aggregate_public_keys(
    verifier(1), eth2(), keys[0].bytes[0].unsafeAddr, csize_t(48 * keys.len), result.bytes[0].addr, 48, nil)
  if code != 0:
    result = PublicKey()
    # Keys that cancel each other are a misuse.
    if code != misuse:
      result.bytes[0] = 1

func total(signatures: openArray[Signature]): Signature =
  if signatures.len == 0:
    return
  var encodings = @signatures
  for signature in encodings.mitems:
    signature.bytes = signature.encoding
  doAssert quorate_aggregate_checked(
    eth2(), encodings[0].bytes[0].addr, csize_t(96 * encodings.len), result.bytes[0].addr, 96, nil) == 0

template aggregates(Aggregate, Point: typedesc) =
  func init*(agg: var Aggregate, elem: Point) = agg.parts = @[elem]
  func aggregate*(agg: var Aggregate, elem: Point) = agg.parts.add elem
  func aggregate*(agg: var Aggregate, elems: openArray[Point]) = agg.parts.add elems
  func finish*(dst: var Point, src: Aggregate) = dst = total(src.parts)

  func aggregateAll*(dst: var Point, elems: openArray[Point]): bool =
    if elems.len > 0:
      dst = total(elems)
    elems.len > 0

aggregates(AggregateSignature, Signature)
aggregates(AggregatePublicKey, PublicKey)

func subtractAll*(dst: var Signature, elems: openArray[Signature]) =
  if elems.len == 0:
    return
  let (sum, part) = (Signature(bytes: dst.encoding), Signature(bytes: total(elems).encoding))
  doAssert quorate_subtract(eth2(), sum.view, part.view, dst.bytes[0].addr, 96, nil) == 0

func subtractAll*(dst: var PublicKey, elems: openArray[PublicKey]) =
  if elems.len == 0:
    return
  var part = total(elems)
  if part.isIdentity:
    return
  # The sign of a compressed point.
  part.bytes[0] = part.bytes[0] xor 0x20
  dst = if dst.isIdentity: part else: total([dst, part])

func toHex*(obj: SecretKey|PublicKey|Signature|ProofOfPossession|AggregateSignature): string =
  when obj is AggregateSignature: total(obj.parts).encoding.toHex()
  elif obj is SecretKey: obj.exportRaw.toHex()
  else: obj.encoding.toHex()

# Verification
# ----------------------------------------------------------------------

func coreVerifyNoGroupCheck*[T: byte|char](
    publicKey: PublicKey, message: openArray[T], sig_or_proof: Signature or ProofOfPossession, domainSepTag: static string): bool =
  var key = publicKey.view
  var claim = Claim(suite: eth2(), public_keys: key.addr, public_key_count: 1, signature: sig_or_proof.view)
  var bytes = message.view
  when domainSepTag == signatureTag:
    claim.kind = shared
    claim.messages = bytes.addr
    claim.message_count = 1
  elif domainSepTag == possessionTag:
    doAssert @(publicKey.encoding) == @message, "a proof is of the key's own encoding"
    claim.kind = possession
  else:
    {.error: "there is no suite with this tag".}
  hold([claim])

func coreVerify*[T: byte|char](
    publicKey: PublicKey, message: openArray[T], sig_or_proof: Signature or ProofOfPossession, domainSepTag: static string): bool =
  coreVerifyNoGroupCheck(publicKey, message, sig_or_proof, domainSepTag)

type ContextCoreAggregateVerify*[DomainSepTag: static string] = object
  keys: seq[PublicKey]
  messages: seq[seq[byte]]

func init*(ctx: var ContextCoreAggregateVerify) =
  static: doAssert ctx.DomainSepTag == signatureTag, "there is no suite with this tag"
  ctx.keys.setLen(0)
  ctx.messages.setLen(0)

func update*[T: char|byte](ctx: var ContextCoreAggregateVerify, publicKey: PublicKey, message: openArray[T]): bool =
  ctx.keys.add publicKey
  when T is byte: ctx.messages.add @message
  else: ctx.messages.add @(message.toOpenArrayByte(0, message.high))
  not publicKey.isIdentity

func finish*(ctx: var ContextCoreAggregateVerify, signature: Signature or AggregateSignature): bool =
  let sum = when signature is AggregateSignature: total(signature.parts) else: signature
  var keys, messages: seq[Bytes]
  for i in 0 ..< ctx.keys.len:
    keys.add ctx.keys[i].view
    messages.add ctx.messages[i].view
  keys.len > 0 and hold([Claim(
    suite: eth2(), kind: each, public_keys: keys[0].addr, public_key_count: keys.len.csize_t,
    messages: messages[0].addr, message_count: messages.len.csize_t, signature: sum.view)])

# What blst keeps
# ----------------------------------------------------------------------

func combine*(
    secureRandomBytes: array[32, byte], publicKeys: openArray[PublicKey], signatures: openArray[Signature]
  ): tuple[publicKey: PublicKey, signature: Signature] =
  ## One claim for many of the same message: both sums with weights of 64 bits. libquorate does so inside, so give it the claims as
  ## they come.
  doAssert publicKeys.len == signatures.len and publicKeys.len > 0
  if publicKeys.len == 1:
    return (publicKeys[0], signatures[0])
  var
    keys: seq[blst_p1_affine]
    points: seq[blst_p2_affine]
    weights: seq[array[8, byte]]
    digest = secureRandomBytes
  for i in 0 ..< publicKeys.len:
    keys.add publicKeys[i].affine
    points.add signatures[i].affine
    digest.bls_sha256_digest(digest)
    var weight: array[8, byte]
    weight[0 ..< 8] = digest[0 ..< 8]
    weight[0] = weight[0] or 1
    weights.add weight
  let n = publicKeys.len.uint
  let room = max(blst_p1s_mult_pippenger_scratch_sizeof(n), blst_p2s_mult_pippenger_scratch_sizeof(n))
  var
    scratch = newSeq[limb_t](room.int div sizeof(limb_t) + 1)
    keyRefs = [toCC(keys[0], cblst_p1_affine), nil]
    pointRefs = [toCC(points[0], cblst_p2_affine), nil]
    weightRefs = [weights[0][0].addr, nil]
    key: blst_p1
    point: blst_p2
  blst_p1s_mult_pippenger(toCV(key, cblst_p1), keyRefs[0].addr, n, weightRefs[0].addr, 64, scratch[0].addr)
  blst_p2s_mult_pippenger(toCV(point, cblst_p2), pointRefs[0].addr, n, weightRefs[0].addr, 64, scratch[0].addr)
  blst_p1_compress(result.publicKey.bytes, toCC(key, cblst_p1))
  blst_p2_compress(result.signature.bytes, toCC(point, cblst_p2))

func getScalar*(sk: SecretKey): blst_scalar = sk.scalar

func fromFr*(t: typedesc[SecretKey], pt: blst_fr): SecretKey =
  blst_scalar_from_fr(toCV(result.scalar, cblst_scalar), toCC(pt, cblst_fr))

func getPoint*(sig: Signature): blst_p2_affine = sig.affine

func fromP2*(s: typedesc[Signature], pt: blst_p2): Signature =
  blst_p2_compress(result.bytes, toCC(pt, cblst_p2))
