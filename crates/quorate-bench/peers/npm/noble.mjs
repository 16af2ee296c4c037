// @noble/curves, in JavaScript alone.
import { randomBytes } from 'node:crypto'
import { bls12_381 as bls } from '@noble/curves/bls12-381.js'
import { bn254 } from '@noble/curves/bn254.js'
import { pippenger } from '@noble/curves/abstract/curve.js'
import { Cannot, serve } from './serve.mjs'

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

function task({ job, suite, tag, keys, messages, signatures, scalars }) {
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
  const decoded = keys.map(point(G1))
  if (job === 'key-sum') return { work: () => encoded(sum(decoded)) }
  if (job === 'hash') return { work: () => encoded(hash(bls.G2, messages[0])) }
  if (job === 'msm') {
    const factors = scalars.map(number)
    return { note: 'pippenger', work: () => encoded(sum([pippenger(G1, decoded, factors)])) }
  }
  const points = signatures.map(point(G2))
  if (job === 'aggregate' || keys.length === 1) {
    return {
      note: job === 'aggregate' ? 'the keys summed, then pairingBatch' : 'pairingBatch',
      work: () =>
        isMember(points[0]) &&
        isOne(bls, [
          { g1: decoded.length === 1 ? decoded[0] : sum(decoded), g2: hash(bls.G2, messages[0]) },
          { g1: G1.BASE.negate(), g2: points[0] },
        ]),
    }
  }
  return {
    note: 'pairingBatch of a product with weights of 64 bits, by its verbs',
    work: () => {
      const random = randomBytes(8 * decoded.length)
      const weights = decoded.map((_, i) => random.readBigUInt64LE(8 * i) | 1n)
      const pairs = decoded.map((key, i) => ({ g1: key.multiplyUnsafe(weights[i]), g2: hash(bls.G2, messages[i]) }))
      const total = points.reduce((sum, signature, i) => sum.add(signature.multiplyUnsafe(weights[i])), G2.ZERO)
      return points.every(isMember) && isOne(bls, [...pairs, { g1: G1.BASE.negate(), g2: total }])
    },
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
