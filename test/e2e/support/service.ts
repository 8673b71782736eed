import type { TestContext } from 'node:test'
import type { Clock } from '../../../src/lib/index.ts'
import { freePort } from '../../../testkit/listeners.ts'
import { startTestService, type TestService } from '../../../testkit/service.ts'
import { clock } from './clock.ts'

/** The program in this process, at an address that the browser may know from an earlier test. */
export async function startService(
  t: TestContext,
  environment: Record<string, string> = {},
  time: Clock = clock,
): Promise<TestService> {
  return startTestService(t, time, { PORT: await takePort(t), ...environment })
}

/** Of services that have ended. */
const left: string[] = []

/**
 * A port for a service of this test: one of an earlier test, if there is one. For the browser the service is the same site then, and it keeps
 * the page that an earlier test has left, with all that it has compiled; a new profile for every service was a tenth of the processor time.
 */
export async function takePort(t: TestContext): Promise<string> {
  const port = left.pop() ?? String(await freePort())
  // After the hook that ends the service, which is added later than this one.
  t.after(() => t.after(() => left.push(port)))
  return port
}
