## nim-blscurve's `bls_batch_verifier`, over libquorate, which makes the batch and draws its weights. The random bytes are not used.

import ./bls_backend

when compileOption("threads"):
  import taskpools

{.push raises: [].}

type
  SignatureSet* = tuple[pubkey: PublicKey, message: array[32, byte], signature: Signature]
  MultiSignatureSet* = object
    pubkeys: seq[PublicKey]
    message: array[32, byte]
    signatures: seq[Signature]
  BatchedBLSVerifierCache* {.requiresInit.} = object
    threads: int

func init*(
    T: type MultiSignatureSet, pubkeys: seq[PublicKey], message: array[32, byte], signatures: seq[Signature]): MultiSignatureSet =
  doAssert pubkeys.len == signatures.len and pubkeys.len > 0
  MultiSignatureSet(pubkeys: pubkeys, message: message, signatures: signatures)

func init*(T: type MultiSignatureSet, sigset: SignatureSet): MultiSignatureSet =
  MultiSignatureSet.init(@[sigset.pubkey], sigset.message, @[sigset.signature])

func add*(multiSet: var MultiSignatureSet, sigset: SignatureSet) =
  doAssert multiSet.message == sigset.message
  multiSet.pubkeys.add sigset.pubkey
  multiSet.signatures.add sigset.signature

func combine*(multiSet: MultiSignatureSet, secureRandomBytes: array[32, byte]): SignatureSet =
  let (key, signature) = secureRandomBytes.combine(multiSet.pubkeys, multiSet.signatures)
  (key, multiSet.message, signature)

func init*(T: type BatchedBLSVerifierCache): T =
  BatchedBLSVerifierCache(threads: 1)

func verify(sets: openArray[SignatureSet], threads: int): bool =
  var keys, messages = newSeq[Bytes](sets.len)
  var claims = newSeq[Claim](sets.len)
  for i in 0 ..< sets.len:
    keys[i] = sets[i].pubkey.view
    messages[i] = sets[i].message.view
    claims[i] = Claim(
      suite: eth2(), kind: shared, public_keys: keys[i].addr, public_key_count: 1, messages: messages[i].addr,
      message_count: 1, signature: sets[i].signature.view)
  hold(claims, threads)

func batchVerifySerial*(
    cache: var BatchedBLSVerifierCache, input: openArray[SignatureSet], secureRandomBytes: array[32, byte]): bool =
  input.verify(1)

func batchVerifySerial*(input: openArray[SignatureSet], secureRandomBytes: array[32, byte]): bool =
  input.verify(1)

when compileOption("threads"):
  func init*(T: type BatchedBLSVerifierCache, tp: Taskpool): T =
    BatchedBLSVerifierCache(threads: tp.numThreads)

  proc batchVerify*(
      tp: Taskpool, cache: ptr BatchedBLSVerifierCache, setsPtr: ptr UncheckedArray[SignatureSet], numSets: int,
      secureRandomBytes: ptr array[32, byte]): bool =
    setsPtr.toOpenArray(0, numSets - 1).verify(cache[].threads)

  proc batchVerify*(
      tp: Taskpool, cache: var BatchedBLSVerifierCache, input: openArray[SignatureSet],
      secureRandomBytes: array[32, byte]): bool =
    input.verify(cache.threads)

  proc batchVerify*(tp: Taskpool, input: openArray[SignatureSet], secureRandomBytes: array[32, byte]): bool =
    input.verify(tp.numThreads)

  proc batchVerifyParallel*(
      tp: Taskpool, cache: ptr BatchedBLSVerifierCache, setsPtr: ptr UncheckedArray[SignatureSet], numSets: int,
      secureRandomBytes: ptr array[32, byte]): bool =
    tp.batchVerify(cache, setsPtr, numSets, secureRandomBytes)

  proc batchVerifyParallel*(
      tp: Taskpool, cache: var BatchedBLSVerifierCache, input: openArray[SignatureSet],
      secureRandomBytes: array[32, byte]): bool =
    tp.batchVerify(cache, input, secureRandomBytes)

  proc batchVerifyParallel*(tp: Taskpool, input: openArray[SignatureSet], secureRandomBytes: array[32, byte]): bool =
    tp.batchVerify(input, secureRandomBytes)
