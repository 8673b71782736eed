import { setTimeout as sleep } from 'node:timers/promises'
import { answerCalls } from '../../testkit/processes/worker-calls.ts'

const calls = {
  double: (bytes: Uint8Array): Uint8Array => bytes.map((byte) => 2 * byte),
  later: (ms: number, value: string): Promise<string> => sleep(ms, value),
  fail(): void {
    throw new Error('not today')
  },
  end(): void {
    console.log('leaving')
    process.exit(1)
  },
}
export type ExampleCalls = typeof calls

answerCalls(calls)
