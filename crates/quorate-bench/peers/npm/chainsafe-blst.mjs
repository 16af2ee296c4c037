// @chainsafe/blst: blst in Node.js, with a native half.
import * as blst from '@chainsafe/blst'
import { Cannot, orFalse, serve } from './serve.mjs'

// Its tag is a constant.
const TAG = 'BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_'

const key = (encoding) => blst.PublicKey.fromBytes(encoding, true)
const signature = (encoding) => blst.Signature.fromBytes(encoding)
// The signatures' subgroup checks are inside.
const verified = (messages, pks, sigs) => {
  if (pks.length === 1) return blst.verify(messages[0], pks[0], sigs[0], false, true)
  const sets = pks.map((pk, i) => ({ msg: messages[i], pk, sig: sigs[i] }))
  return blst.verifyMultipleAggregateSignatures(sets, false, true)
}

function task({ job, suite, tag, keys, messages, signatures, sets }) {
  if (suite !== 'min-pk' || tag !== TAG) throw new Cannot('it has keys in G1 of BLS12-381 alone')
  const batch = 'verifyMultipleAggregateSignatures, weights of 64 bits'
  if (job === 'from-bytes') {
    return {
      note: 'fromBytes, keys validated, then ' + (keys.length === 1 ? 'verify' : batch),
      work: orFalse(() => verified(messages, keys.map(key), signatures.map(signature))),
    }
  }
  const pks = keys.map(key)
  if (job === 'same-message') {
    const pairs = pks.map((pk, i) => ({ pk, sig: signatures[i] }))
    return {
      note: 'aggregateWithRandomness, which decodes the signatures too, then verify',
      work: () => {
        const { pk, sig } = blst.aggregateWithRandomness(pairs)
        return blst.verify(messages[0], pk, sig, false, false)
      },
    }
  }
  const sigs = signatures.map(signature)
  switch (job) {
    case 'verify':
      return { note: pks.length === 1 ? 'verify' : batch, work: () => verified(messages, pks, sigs) }
    case 'sets': {
      const members = sets.map((set) => set.map((place) => pks[place]))
      return {
        note: 'aggregatePublicKeys of each set, then ' + batch,
        work: () => {
          const sums = members.map((set) => blst.aggregatePublicKeys(set, false))
          return verified(messages, sums, sigs)
        },
      }
    }
    case 'block':
      return { note: 'aggregateVerify', work: () => blst.aggregateVerify(messages, pks, sigs[0], false, true) }
    case 'aggregate':
      return { note: 'fastAggregateVerify', work: () => blst.fastAggregateVerify(messages[0], pks, sigs[0], true) }
    case 'key-sum':
      return {
        note: 'aggregatePublicKeys',
        work: () => {
          const sum = blst.aggregatePublicKeys(pks, false)
          return () => sum.toBytes()
        },
      }
    default:
      throw new Cannot('its published interface does not have it')
  }
}

await serve(task)
