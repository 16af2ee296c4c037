// @chainsafe/blst: blst in Node.js, with a native half.
import * as blst from '@chainsafe/blst'
import { Cannot, serve } from './serve.mjs'

// Its tag is a constant.
const TAG = 'BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_'

function task({ job, suite, tag, keys, messages, signatures }) {
  if (suite !== 'min-pk' || tag !== TAG) throw new Cannot('it has keys in G1 of BLS12-381 alone')
  const pks = keys.map((key) => blst.PublicKey.fromBytes(key, true))
  const sigs = signatures.map((signature) => blst.Signature.fromBytes(signature))
  switch (job) {
    case 'verify': {
      if (pks.length === 1) {
        return { note: 'verify', work: () => blst.verify(messages[0], pks[0], sigs[0], false, true) }
      }
      const sets = pks.map((pk, i) => ({ msg: messages[i], pk, sig: sigs[i] }))
      return {
        note: 'verifyMultipleAggregateSignatures, weights of 64 bits',
        work: () => blst.verifyMultipleAggregateSignatures(sets, false, true),
      }
    }
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
