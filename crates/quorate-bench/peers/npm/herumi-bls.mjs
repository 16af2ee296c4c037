// bls-eth-wasm: herumi's bls on mcl, as WebAssembly.
import bls from 'bls-eth-wasm'
import { Cannot, orFalse, serve } from './serve.mjs'

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

// The sum of keys is a copy of the first with the others added.
const sum = (pks) => {
  const total = pks[0].clone()
  for (const pk of pks.slice(1)) total.add(pk)
  return total
}
const verified = (messages, pks, sigs) => {
  if (!sigs.every(isMember)) return false
  return pks.length === 1 ? pks[0].verify(sigs[0], messages[0]) : bls.multiVerify(pks, sigs, messages)
}

function task({ job, suite, tag, keys, messages, signatures, sets }) {
  if (suite !== 'min-pk' || tag !== TAG) throw new Cannot('it has keys in G1 of BLS12-381 alone')
  const batch = 'multiVerify, weights of 64 bits'
  if (job === 'from-bytes') {
    return {
      note: 'deserialize with the checks of subgroups, then ' + (keys.length === 1 ? 'verify' : batch),
      work: orFalse(() => {
        const pks = keys.map(point(bls.PublicKey))
        return !pks.some((pk) => pk.isZero()) && verified(messages, pks, signatures.map(point(bls.Signature)))
      }),
    }
  }
  const pks = keys.map(point(bls.PublicKey))
  const sigs = signatures.map(point(bls.Signature))
  switch (job) {
    case 'verify':
      return { note: pks.length === 1 ? 'verify' : batch, work: () => verified(messages, pks, sigs) }
    case 'same-message': {
      const copies = pks.map(() => messages[0])
      return { note: batch + '; it has no call for one message', work: () => verified(copies, pks, sigs) }
    }
    case 'sets': {
      const members = sets.map((set) => set.map((place) => pks[place]))
      return {
        note: 'the keys of each set added, then ' + batch,
        work: () => verified(messages, members.map(sum), sigs),
      }
    }
    case 'block': {
      const joined = Buffer.concat(messages)
      return {
        note: 'aggregateVerifyNoCheck',
        work: () => isMember(sigs[0]) && sigs[0].aggregateVerifyNoCheck(pks, joined),
      }
    }
    case 'aggregate':
      return {
        note: 'fastAggregateVerify',
        work: () => isMember(sigs[0]) && sigs[0].fastAggregateVerify(pks, messages[0]),
      }
    case 'key-sum':
      return {
        work: () => {
          const total = sum(pks)
          return () => total.serialize()
        },
      }
    default:
      throw new Cannot('its published interface does not have it')
  }
}

await serve(task)
