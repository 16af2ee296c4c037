// bls-eth-wasm: herumi's bls on mcl, as WebAssembly.
import bls from 'bls-eth-wasm'
import { Cannot, serve } from './serve.mjs'

// Its tag is a constant.
const TAG = 'BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_'

await bls.init(bls.BLS12_381)
// Subgroup checks are made where they are measured.
bls.verifySignatureOrder(false)
bls.verifyPublicKeyOrder(true)

const point = (Kind) => (encoding) => {
  const decoded = new Kind()
  decoded.deserialize(encoding)
  return decoded
}
const isMember = (signature) => !signature.isZero() && signature.isValidOrder()

function task({ job, suite, tag, keys, messages, signatures }) {
  if (suite !== 'min-pk' || tag !== TAG) throw new Cannot('it has keys in G1 of BLS12-381 alone')
  const pks = keys.map(point(bls.PublicKey))
  const sigs = signatures.map(point(bls.Signature))
  switch (job) {
    case 'verify':
      if (pks.length === 1) {
        return { note: 'verify', work: () => isMember(sigs[0]) && pks[0].verify(sigs[0], messages[0]) }
      }
      return {
        note: 'multiVerify, weights of 64 bits',
        work: () => sigs.every(isMember) && bls.multiVerify(pks, sigs, messages),
      }
    case 'aggregate':
      return {
        note: 'fastAggregateVerify',
        work: () => isMember(sigs[0]) && sigs[0].fastAggregateVerify(pks, messages[0]),
      }
    case 'key-sum':
      return {
        work: () => {
          const sum = pks[0].clone()
          for (const pk of pks.slice(1)) sum.add(pk)
          return () => sum.serialize()
        },
      }
    default:
      throw new Cannot('its published interface does not have it')
  }
}

await serve(task)
