import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type Logger, pino } from 'pino'
import { Passwords } from '../src/accounts/index.ts'
import { type Environment, readConfig } from '../src/config.ts'
import type { Ingest } from '../src/ingest/index.ts'
import type { Clock } from '../src/lib/index.ts'
import { type Service, type ServiceOptions, startService } from '../src/main.ts'
import { type ApiClient, apiClient } from './api.ts'
import { placeFor, sqlite } from './engines.ts'
import { openOutboundWithoutThread } from './outbound.ts'
import { openWithoutThreads } from './sqlite.ts'

/** A service that takes ingest requests. */
export interface TestService extends ApiClient {
  service: Service & { ingest: Ingest }
}

/** What a test starts asks no one on the internet. */
export const ALONE = { CONNECTION_CHECK_URLS: 'off' }

/** As little as scrypt can cost: the 0.2 s that a password is worth were most of what tests of accounts took. */
const CHEAP_PASSWORDS = { ln: 4, r: 8, p: 1 }

/**
 * The whole program in this process, on a random port, with the test's clock, without threads for the embedded store and for what asks
 * other systems, and with passwords that cost nothing unless a test is about them.
 *
 * @param environment its settings; if they do not say where the data are, it gets an empty SQLite folder
 * @param log where it writes, nowhere by default
 * @param options `{}`: passwords cost what they cost a service
 */
export async function startTestService(
  t: TestContext,
  clock: Clock,
  environment: Environment = {},
  log: Logger = pino({ level: 'silent' }),
  { passwords }: Pick<ServiceOptions, 'passwords'> = { passwords: new Passwords(CHEAP_PASSWORDS) },
): Promise<TestService> {
  const place = isPlaced(environment) ? {} : await placeFor(sqlite, t)
  const config = readConfig({ ...ALONE, PORT: '0', DEFAULT_PLAN: 'enterprise', ...place, ...environment })
  const service = await startService({
    ...{ config, clock, log, passwords },
    open: openWithoutThreads,
    openOutbound: openOutboundWithoutThread,
  })
  t.after(() => service.stop(0))
  const { ingest } = service
  assert.ok(ingest !== null)
  return { service: { ...service, ingest }, ...apiClient(service.address) }
}

const isPlaced = ({ DATA_DIR, DATABASE_URL }: Environment): boolean => (DATA_DIR ?? DATABASE_URL) !== undefined
