## Constantine as a program that `quorate-bench peers` asks, one JSON object a line. src/peers/program.rs has the protocol.
## `--path` names the folder of Constantine's sources.

import
  std/[json, monotimes, posix, strutils, sysrand, times],
  constantine/[hashes, lowlevel_elliptic_curves, lowlevel_pairing_curves],
  constantine/named/algebras,
  constantine/math/[arithmetic, ec_shortweierstrass, extension_fields],
  constantine/math/io/io_bigints,
  constantine/math/pairings/pairings_generic,
  constantine/serialization/codecs_bls12_381,
  constantine/signatures/bls_signatures

type
  Bytes = seq[byte]
  Load = object
    job, suite: string
    tag: Bytes
    keys, messages, signatures, scalars: seq[Bytes]
    ## Of each message the places of its keys.
    sets: seq[seq[int]]
  ## What a task finds. Encoding a point is not timed.
  Answer = object
    verdict: bool
    encode: proc(): Bytes
  Task = object
    note: string
    work: proc(): Answer
  ## Why the library cannot do a task.
  Cannot = object of CatchableError
  PointG1 = EC_ShortW_Aff[Fp[BLS12_381], G1]
  PointG2 = EC_ShortW_Aff[Fp2[BLS12_381], G2]
  Scalar = BigInt[255]
  Weight = BigInt[64]

# The security of the hash in bits.
const security = 128

proc refuse(why: string) {.noreturn.} =
  raise newException(Cannot, why)

proc verdict(holds: bool): Answer =
  Answer(verdict: holds)

proc isMember[F, G](point: EC_ShortW_Aff[F, G]): bool =
  not bool(point.isNeutral()) and bool(point.isInSubgroup())

proc fixed[N: static int](bytes: Bytes): array[N, byte] =
  if bytes.len != N:
    refuse("a field has " & $bytes.len & " bytes instead of " & $N)
  for i in 0 ..< N:
    result[i] = bytes[i]

# Keys are members when they are decoded; signatures are checked where they are measured.
proc g1s(encodings: seq[Bytes], members: bool): seq[PointG1] =
  result.setLen(encodings.len)
  for i, encoding in encodings:
    if result[i].deserialize_g1_compressed_unchecked(fixed[48](encoding)) != cttCodecEcc_Success:
      refuse("a point of G1 does not decode")
    if members and not result[i].isMember:
      refuse("a key is outside the subgroup")

proc g2s(encodings: seq[Bytes], members: bool): seq[PointG2] =
  result.setLen(encodings.len)
  for i, encoding in encodings:
    if result[i].deserialize_g2_compressed_unchecked(fixed[96](encoding)) != cttCodecEcc_Success:
      refuse("a point of G2 does not decode")
    if members and not result[i].isMember:
      refuse("a key is outside the subgroup")

proc encoded(point: PointG1): Bytes =
  var bytes: array[48, byte]
  doAssert bytes.serialize_g1_compressed(point) == cttCodecEcc_Success
  @bytes

proc encoded(point: PointG2): Bytes =
  var bytes: array[96, byte]
  doAssert bytes.serialize_g2_compressed(point) == cttCodecEcc_Success
  @bytes

proc randomBytes[N: static int](): array[N, byte] =
  doAssert urandom(result)

## Weights of 64 bits, none of them zero.
proc weights(n: int): seq[Weight] =
  result.setLen(n)
  for weight in result.mitems:
    var bytes = randomBytes[8]()
    bytes[0] = bytes[0] or 1
    weight.unmarshal(bytes, littleEndian)

proc weighted[F, G](points: seq[EC_ShortW_Aff[F, G]], weights: seq[Weight]): EC_ShortW_Aff[F, G] =
  var sum: EC_ShortW_Jac[F, G]
  sum.multiScalarMul_vartime(weights, points)
  result.affine(sum)

proc areMembers(signatures: seq[PointG2]): bool =
  for signature in signatures:
    if not signature.isMember:
      return false
  true

## The signatures are members.
proc holds(keys: seq[PointG1], messages: seq[Bytes], signatures: seq[PointG2], tag: Bytes): bool =
  if keys.len == 1:
    coreVerify(keys[0], messages[0], signatures[0], sha256, security, augmentation = "", tag)
  else:
    batchVerify(keys, messages, signatures, sha256, security, tag, randomBytes[32]())

## It overwrites the keys of a sum, as commit e6bee85e does with 16 and more, so each sum gets a copy.
proc sum(keys: seq[PointG1]): PointG1 =
  let copy = keys[0 .. ^1]
  result.aggregate(copy)

const batch = "batchVerify, its weights of 64 bits"

proc minPk(load: Load): Task =
  let (tag, messages) = (load.tag, load.messages)
  if load.job == "from-bytes":
    let (encodedKeys, encodedSignatures) = (load.keys, load.signatures)
    return Task(
      note: "decoded with the checks of subgroups, then " & (if load.keys.len == 1: "coreVerify" else: batch),
      work: proc(): Answer =
        try:
          let (keys, signatures) = (g1s(encodedKeys, members = true), g2s(encodedSignatures, members = true))
          verdict(holds(keys, messages, signatures, tag))
        except Cannot:
          verdict(false))
  let (keys, signatures) = (g1s(load.keys, members = true), g2s(load.signatures, members = false))
  case load.job
  of "verify":
    Task(note: (if keys.len == 1: "coreVerify" else: batch), work: proc(): Answer =
      verdict(areMembers(signatures) and holds(keys, messages, signatures, tag)))
  of "same-message":
    let note = "multiScalarMul_vartime of keys and signatures with weights of 64 bits, then coreVerify"
    Task(note: note, work: proc(): Answer =
      let weights = weights(keys.len)
      let (key, total) = (weighted(keys, weights), weighted(signatures, weights))
      verdict(areMembers(signatures) and holds(@[key], messages, @[total], tag)))
  of "sets":
    var sets: seq[seq[PointG1]]
    for set in load.sets:
      var members: seq[PointG1]
      for place in set:
        members.add(keys[place])
      sets.add(members)
    Task(note: "aggregate of each set's keys, then " & batch, work: proc(): Answer =
      var sums: seq[PointG1]
      for members in sets:
        sums.add(sum(members))
      verdict(areMembers(signatures) and holds(sums, messages, signatures, tag)))
  of "block":
    Task(note: "aggregateVerify", work: proc(): Answer =
      verdict(signatures[0].isMember and aggregateVerify(keys, messages, signatures[0], sha256, security, tag)))
  of "aggregate":
    Task(note: "fastAggregateVerify", work: proc(): Answer =
      # Of a sum it overwrites the keys.
      let copy = keys[0 .. ^1]
      verdict(signatures[0].isMember and
        fastAggregateVerify(copy, messages[0], signatures[0], sha256, security, tag)))
  of "key-sum":
    Task(note: "", work: proc(): Answer =
      let total = sum(keys)
      Answer(encode: proc(): Bytes = encoded(total)))
  of "hash":
    Task(note: "", work: proc(): Answer =
      var point: PointG2
      sha256.hashToCurve(security, point, augmentation = "", messages[0], tag)
      Answer(encode: proc(): Bytes = encoded(point)))
  of "msm":
    var scalars = newSeq[Scalar](load.scalars.len)
    for i, scalar in load.scalars:
      scalars[i].unmarshal(fixed[32](scalar), bigEndian)
    if scalars.len != keys.len:
      refuse("there are not as many scalars as points")
    Task(note: "multiScalarMul_vartime", work: proc(): Answer =
      var sum: EC_ShortW_Jac[Fp[BLS12_381], G1]
      var point: PointG1
      sum.multiScalarMul_vartime(scalars, keys)
      point.affine(sum)
      Answer(encode: proc(): Bytes = encoded(point)))
  else:
    refuse("it does not know the task " & load.job)

proc minSig(load: Load): Task =
  if load.job != "verify" or load.keys.len != 1:
    refuse("with keys in G2 asked for one claim alone")
  let (key, signature) = (g2s(load.keys, members = true)[0], g1s(load.signatures, members = false)[0])
  let (tag, message) = (load.tag, load.messages[0])
  Task(note: "coreVerify", work: proc(): Answer =
    verdict(signature.isMember and
      coreVerify(key, message, signature, sha256, security, augmentation = "", tag)))

## 32 bytes, the greatest first, modulo p.
proc word(bytes: openArray[byte]): Fp[BN254_Snarks] =
  doAssert bytes.len == 32
  var big: BigInt[256]
  var reduced: BigInt[254]
  big.unmarshal(bytes, bigEndian)
  discard reduced.reduce_vartime(big, Fp[BN254_Snarks].getModulus())
  result.fromBig(reduced)

## EigenLayer's hash: the digest is an x, and one is added until x³ + 3 is a square.
proc hashToBn254(digest: Bytes): EC_ShortW_Aff[Fp[BN254_Snarks], G1] =
  result.x = word(digest)
  while true:
    result.y.curve_eq_rhs(result.x, G1)
    if bool(result.y.sqrt_if_square_vartime()):
      return
    result.x += Fp[BN254_Snarks].getOne()

## Words in the EVM's order: of a coordinate in Fp², the part of the imaginary unit comes first.
proc bn254(load: Load): Task =
  if load.job != "verify" or load.keys.len != 1:
    refuse("on BN254 asked for one claim alone")
  let (encodedKey, encodedSignature) = (fixed[128](load.keys[0]), fixed[64](load.signatures[0]))
  template at(bytes: untyped, i: int): untyped = word(bytes.toOpenArray(32 * i, 32 * i + 31))
  var key, minus: EC_ShortW_Aff[Fp2[BN254_Snarks], G2]
  var signature: EC_ShortW_Aff[Fp[BN254_Snarks], G1]
  key.x.c1 = encodedKey.at(0)
  key.x.c0 = encodedKey.at(1)
  key.y.c1 = encodedKey.at(2)
  key.y.c0 = encodedKey.at(3)
  signature.x = encodedSignature.at(0)
  signature.y = encodedSignature.at(1)
  if not bool(isOnCurve(key.x, key.y, G2)) or not key.isMember or not bool(isOnCurve(signature.x, signature.y, G1)):
    refuse("a point does not decode")
  minus.neg(BN254_Snarks.getGenerator("G2"))
  let digest = load.messages[0]
  Task(note: "pairing_check", work: proc(): Answer =
    verdict(signature.isMember and pairing_check(hashToBn254(digest), key, signature, minus)))

proc task(load: Load): Task =
  case load.suite
  of "min-pk": minPk(load)
  of "min-sig": minSig(load)
  of "bn254": bn254(load)
  else: refuse("it does not know the suite " & load.suite)

proc parsed(load: JsonNode): Load =
  proc bytes(name: string): seq[Bytes] =
    for field in load[name]:
      result.add(cast[Bytes](parseHexStr(field.getStr)))
  var sets: seq[seq[int]]
  for set in load["sets"]:
    var places: seq[int]
    for place in set:
      places.add(place.getInt)
    sets.add(places)
  Load(
    sets: sets, job: load["job"].getStr, suite: load["suite"].getStr, tag: cast[Bytes](load["tag"].getStr),
    keys: bytes("keys"), messages: bytes("messages"), signatures: bytes("signatures"), scalars: bytes("scalars"))

## The CPU time that this process has taken, in nanoseconds.
proc cpuTime(): int64 =
  var spent: Timespec
  doAssert clock_gettime(CLOCK_PROCESS_CPUTIME_ID, spent) == 0
  spent.tv_sec.int64 * 1_000_000_000 + spent.tv_nsec.int64

proc run(task: Task): JsonNode =
  let (cpu, start) = (cpuTime(), getMonoTime())
  let found = task.work()
  let wall = inNanoseconds(getMonoTime() - start)
  let spent = cpuTime() - cpu
  let answer =
    if found.encode.isNil: %found.verdict
    else: %toLowerAscii(toHex(cast[string](found.encode())))
  %*{"answer": answer, "wall_ns": wall, "cpu_ns": spent}

proc serve() =
  var loaded: Task
  var line: string
  while stdin.readLine(line):
    let request = parseJson(line)
    var answer: JsonNode
    if request.hasKey("load"):
      try:
        loaded = request["load"].parsed.task
        answer = %*{"ready": loaded.note}
      except Cannot as why:
        answer = %*{"cannot": why.msg}
    elif request.hasKey("run") and not loaded.work.isNil:
      answer = loaded.run
    else:
      quit("constantine: this is not a request, or nothing is loaded")
    stdout.writeLine($answer)
    stdout.flushFile()

serve()
