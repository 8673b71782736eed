import type { TestContext } from 'node:test'
import { pino } from 'pino'
import { type Environment, readConfig } from '../../src/config.ts'
import type { Clock } from '../../src/lib/index.ts'
import { type Service, startService } from '../../src/main.ts'
import { type ApiClient, apiClient } from './api.ts'
import { tempDir } from './engines.ts'

export interface TestService extends ApiClient {
  service: Service
}

/** The whole program in this process, on a random port and an empty folder, with the test's clock. */
export async function startTestService(
  t: TestContext,
  clock: Clock,
  environment: Environment = {},
): Promise<TestService> {
  const config = readConfig({ PORT: '0', DATA_DIR: await tempDir(t), DEFAULT_PLAN: 'enterprise', ...environment })
  const service = await startService({ config, clock, log: pino({ level: 'silent' }) })
  t.after(() => service.stop(0))
  return { service, ...apiClient(service.address) }
}
