// The protocol of `quorate-bench peers`: one JSON object a line. src/peers/program.rs has it.
import { createInterface } from 'node:readline'
import { writeSync } from 'node:fs'

export const bytes = (hex) => Uint8Array.from(Buffer.from(hex, 'hex'))

/** What a verifier of bytes answers: what does not decode is false. */
export const orFalse = (work) => () => {
  try {
    return work()
  } catch {
    return false
  }
}

/** A task that the library cannot do, and why. */
export class Cannot extends Error {}

const write = (answer) => {
  let text = Buffer.from(JSON.stringify(answer) + '\n')
  while (text.length > 0) text = text.subarray(writeSync(1, text))
}

/**
 * Answers requests until the input ends. `load` gives a note on how the library does a task, and `work`, which does it: it
 * returns a verdict, or a function that encodes the point that it found, which is not timed.
 */
export async function serve(load) {
  let work
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line)
    if (request.load) {
      const { keys, messages, signatures, scalars } = request.load
      const decoded = Object.fromEntries(
        Object.entries({ keys, messages, signatures, scalars }).map(([name, list]) => [name, list.map(bytes)]),
      )
      try {
        const task = load({ ...request.load, ...decoded })
        work = task.work
        write({ ready: task.note ?? '' })
      } catch (error) {
        if (!(error instanceof Cannot)) throw error
        write({ cannot: error.message })
      }
    } else {
      const [cpu, start] = [process.cpuUsage(), process.hrtime.bigint()]
      const found = work()
      const [wall, spent] = [process.hrtime.bigint() - start, process.cpuUsage(cpu)]
      const answer = typeof found === 'boolean' ? found : Buffer.from(found()).toString('hex')
      write({ answer, wall_ns: Number(wall), cpu_ns: (spent.user + spent.system) * 1000 })
    }
  }
}
