// @noble/curves, in JavaScript alone.
import { randomBytes } from 'node:crypto'
import { bls12_381 as bls } from '@noble/curves/bls12-381.js'
import { bn254 } from '@noble/curves/bn254.js'
import { pippenger } from '@noble/curves/abstract/curve.js'
import { Cannot, orFalse, serve } from './serve.mjs'

const [G1, G2] = [bls.G1.Point, bls.G2.Point]
const point = (Group) => (encoding) => {
  const decoded = Group.fromBytes(encoding)
  decoded.assertValidity()
  return decoded
}
const number = (encoding) => BigInt('0x' + Buffer.from(encoding).toString('hex'))
const isMember = (signature) => !signature.is0() && signature.isTorsionFree()
const isOne = (curve, pairs) => {
  const { Fp12 } = curve.fields
  return Fp12.eql(curve.pairingBatch(pairs), Fp12.ONE)
}
const encoded = (found) => () => found.toBytes(true)
// The affine coordinates are part of the sum.
const sum = (points) => {
  const total = points.reduce((sum, key) => sum.add(key), G1.ZERO)
  total.toAffine()
  return total
}

// Of 64 bits, none of them zero.
const randomWeights = (n) => {
  const random = randomBytes(8 * n)
  return Array.from({ length: n }, (_, i) => random.readBigUInt64LE(8 * i) | 1n)
}

function task({ job, suite, tag, keys, messages, signatures, scalars, sets }) {
  if (suite === 'bn254') {
    if (job !== 'verify') throw new Cannot('not asked on BN254')
    return onBn254(keys[0], messages[0], signatures[0])
  }
  const hash = (Group, message) => Group.hashToCurve(message, { DST: tag })
  if (suite === 'min-sig') {
    if (job !== 'verify') throw new Cannot('not asked with keys in G2')
    const [key, signature] = [point(G2)(keys[0]), point(G1)(signatures[0])]
    return {
      note: 'pairingBatch',
      work: () =>
        isMember(signature) &&
        isOne(bls, [
          { g1: hash(bls.G1, messages[0]), g2: key },
          { g1: signature.negate(), g2: G2.BASE },
        ]),
    }
  }
  const hashes = () => messages.map((message) => hash(bls.G2, message))
  const pairs = (keys, hashes) => keys.map((g1, i) => ({ g1, g2: hashes[i] }))
  const isOneWith = (pairs, signature) => isOne(bls, [...pairs, { g1: G1.BASE.negate(), g2: signature }])
  // A product of pairings, with weights if there are several signatures. They are members.
  const holds = (keys, points) => {
    if (keys.length === 1) return isOneWith(pairs(keys, hashes()), points[0])
    const weights = randomWeights(keys.length)
    const weighted = keys.map((key, i) => key.multiplyUnsafe(weights[i]))
    const total = points.reduce((sum, signature, i) => sum.add(signature.multiplyUnsafe(weights[i])), G2.ZERO)
    return isOneWith(pairs(weighted, hashes()), total)
  }
  if (job === 'from-bytes') {
    return {
      note: 'fromBytes and assertValidity, then as without',
      work: orFalse(() => holds(keys.map(point(G1)), signatures.map(point(G2)))),
    }
  }
  const decoded = keys.map(point(G1))
  if (job === 'key-sum') return { work: () => encoded(sum(decoded)) }
  if (job === 'hash') return { work: () => encoded(hash(bls.G2, messages[0])) }
  if (job === 'msm') {
    const factors = scalars.map(number)
    return { note: 'pippenger', work: () => encoded(sum([pippenger(G1, decoded, factors)])) }
  }
  const points = signatures.map(point(G2))
  switch (job) {
    case 'verify': {
      const batch = 'pairingBatch of a product with weights of 64 bits, by its verbs'
      return { note: decoded.length === 1 ? 'pairingBatch' : batch, work: () => points.every(isMember) && holds(decoded, points) }
    }
    case 'same-message':
      return {
        note: 'pippenger of keys and signatures with weights of 64 bits, then pairingBatch',
        work: () => {
          const weights = randomWeights(decoded.length)
          const [key, total] = [pippenger(G1, decoded, weights), pippenger(G2, points, weights)]
          return points.every(isMember) && isOneWith(pairs([key], hashes()), total)
        },
      }
    case 'sets': {
      const members = sets.map((set) => set.map((place) => decoded[place]))
      return {
        note: 'the keys of each set summed, then pairingBatch of a product with weights of 64 bits, by its verbs',
        work: () => points.every(isMember) && holds(members.map(sum), points),
      }
    }
    case 'block':
      return {
        note: 'pairingBatch',
        work: () => isMember(points[0]) && isOneWith(pairs(decoded, hashes()), points[0]),
      }
    case 'aggregate':
      return {
        note: 'the keys summed, then pairingBatch',
        work: () => isMember(points[0]) && isOneWith(pairs([sum(decoded)], hashes()), points[0]),
      }
    default:
      throw new Cannot(`it does not know the task ${job}`)
  }
}

// Words in the EVM's order: of a coordinate in Fp², the part of the imaginary unit comes first.
function onBn254(key, digest, signature) {
  const { Fp, Fp2 } = bn254.fields
  const word = (bytes, i) => number(bytes.subarray(32 * i, 32 * (i + 1)))
  const pair = (i) => Fp2.fromBigTuple([word(key, i + 1), word(key, i)])
  const g2 = bn254.G2.Point.fromAffine({ x: pair(0), y: pair(2) })
  const g1 = bn254.G1.Point.fromAffine({ x: word(signature, 0), y: word(signature, 1) })
  g1.assertValidity()
  const minus = bn254.G2.Point.BASE.negate()
  // EigenLayer's hash: the digest is an x, and one is added until x³ + 3 is a square.
  const hash = () => {
    for (let x = Fp.create(number(digest)); ; x = Fp.add(x, 1n)) {
      try {
        return bn254.G1.Point.fromAffine({ x, y: Fp.sqrt(Fp.add(Fp.mul(Fp.sqr(x), x), 3n)) })
      } catch {
        // Not a square.
      }
    }
  }
  return {
    note: 'pairingBatch',
    work: () => !g1.is0() && isOne(bn254, [{ g1: hash(), g2 }, { g1, g2: minus }]),
  }
}

await serve(task)
