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

/** Keeps what a test starts from asking hosts on the internet. */
export const ALONE = { CONNECTION_CHECK_URLS: 'off' }

/** The cheapest scrypt: the production cost of 0.2 s per password was most of the time of account tests. */
const CHEAP_PASSWORDS = { ln: 4, r: 8, p: 1 }

/**
 * Starts the whole program in this process, on a random port, with the test's clock, without threads for SQLite and outbound requests, and
 * by default with cheap passwords.
 *
 * @param environment its settings; without a place for data, it gets an empty SQLite folder
 * @param log by default silent
 * @param options `{}` for the real cost of passwords
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
