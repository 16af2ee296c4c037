## Measures nim-blscurve as it was compiled, with blst or with the adapter: `compare ROUNDS` prints, for each call, its name and the
## median of its rounds in microseconds of CPU time. Messages are new in each round; keys were seen before, by an earlier round.

import
  std/[algorithm, os, strutils, sysrand, times],
  taskpools,
  ../blscurve

proc secretOf(i: int): SecretKey =
  var bytes: array[32, byte]
  for at in 0 ..< 8:
    bytes[31 - at] = byte((i shr (8 * at)) and 255)
  bytes[0] = 0x12
  doAssert result.fromBytes(bytes)

proc keyOf(secret: SecretKey): PublicKey =
  doAssert result.publicFromSecret(secret)

var serial = 0

proc newMessage(): array[32, byte] =
  inc serial
  for at in 0 ..< 8:
    result[at] = byte((serial shr (8 * at)) and 255)

proc random(): array[32, byte] =
  doAssert urandom(result)

const most = 512
var
  secrets: seq[SecretKey]
  keys: seq[PublicKey]
for i in 0 ..< most:
  secrets.add secretOf(i)
  keys.add keyOf(secrets[i])

# The microseconds of CPU time that a call takes, with what it says.
template timed(call: bool): tuple[holds: bool, us: float] =
  let start = cpuTime()
  let holds = call
  (holds, 1e6 * (cpuTime() - start))

proc print(name: string, times: var seq[float]) =
  times.sort()
  echo name, "\t", formatFloat(times[times.len div 2], ffDecimal, 1)

proc setsOf(n: int, different: bool): seq[SignatureSet] =
  let first = newMessage()
  for i in 0 ..< n:
    let message = if different: newMessage() else: first
    result.add (keys[i], message, secrets[i].sign(message))

proc main(rounds: int) =
  var cache = BatchedBLSVerifierCache.init()
  for (n, different) in [(64, true), (128, true), (64, false), (128, false)]:
    var times: seq[float]
    for round in 0 .. rounds:
      var sets = setsOf(n, different)
      let (holds, us) = timed(cache.batchVerifySerial(sets, random()))
      doAssert holds
      # The first round shows the keys.
      if round > 0: times.add us
      swap(sets[0].signature, sets[1].signature)
      doAssert not cache.batchVerifySerial(sets, random())
    print("batchVerifySerial, " & $n & (if different: " messages" else: " sets of one message"), times)
  var combined, single, many, sums, decoded, keysDecoded: seq[float]
  for round in 0 .. rounds:
    # The first round shows the keys.
    template keep(times: var seq[float], us: float) =
      if round > 0: times.add us
    let sets = setsOf(128, false)
    block:
      let (holds, us) = timed((block:
        var signatures: seq[Signature]
        for set in sets: signatures.add set.signature
        let one = MultiSignatureSet.init(keys[0 ..< 128], sets[0].message, signatures).combine(random())
        cache.batchVerifySerial([one], random())))
      doAssert holds
      keep(combined, us)
    block:
      let message = newMessage()
      let signature = secrets[0].sign(message)
      let (holds, us) = timed(keys[0].verify(message, signature))
      doAssert holds and not keys[1].verify(message, signature)
      keep(single, us)
    var encodings: seq[array[96, byte]]
    var signatures: seq[Signature]
    for set in sets:
      signatures.add set.signature
      encodings.add set.signature.exportRaw()
    block:
      var sum: Signature
      let (holds, us) = timed(sum.aggregateAll(signatures))
      doAssert holds and fastAggregateVerify(keys[0 ..< 128], sets[0].message, sum)
      keep(sums, us)
    block:
      var read: Signature
      let (holds, us) = timed((block:
        var all = true
        for encoding in encodings: all = read.fromBytes(encoding) and all
        all))
      doAssert holds
      keep(decoded, us)
    block:
      var read: PublicKey
      var keyBytes: seq[array[48, byte]]
      for key in keys[0 ..< 128]: keyBytes.add key.exportRaw()
      let (holds, us) = timed((block:
        var all = true
        for encoding in keyBytes: all = read.fromBytes(encoding) and all
        all))
      doAssert holds
      keep(keysDecoded, us)
    block:
      let message = newMessage()
      var all: seq[Signature]
      for secret in secrets: all.add secret.sign(message)
      var sum: Signature
      doAssert sum.aggregateAll(all)
      let (holds, us) = timed(fastAggregateVerify(keys, message, sum))
      doAssert holds and not fastAggregateVerify(keys[1 .. ^1], message, sum)
      keep(many, us)
  print("128 sets of one message by combine and batchVerifySerial", combined)
  print("verify", single)
  print("fastAggregateVerify, 512 keys", many)
  print("aggregateAll, 128 signatures", sums)
  print("fromBytes, 128 signatures", decoded)
  print("fromBytes, 128 keys", keysDecoded)

main(parseInt(paramStr(1)))
