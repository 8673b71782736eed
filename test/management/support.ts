import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { AccessSettings, ErrorBody, HttpApp } from '../../src/http/index.ts'
import {
  type ClientRecord,
  type CreateClient,
  type CreateSite,
  createOncePerKey,
  type DeletionHooks,
  type ManagementOptions,
  managementRoutes,
  type Plan,
  type SiteRecord,
} from '../../src/management/index.ts'
import { removeUsage, requestRemovals } from '../../src/rollups/removal.ts'
import type { Change, Store } from '../../src/store/index.ts'
import { bearer } from '../../testkit/api.ts'
import { TestClock } from '../../testkit/clock.ts'
import { NO_KEYS, openApp } from '../http/support.ts'

export const NOW = '2026-11-20T10:00:00.000Z'
export const ADMIN = 'admin-token-0123456789'
export const VIEWER = 'viewer-token-0123456789'
export const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000'

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'
export type Call = [method: Method, url: string, body?: unknown]

interface Options {
  access?: AccessSettings
  defaultPlan?: Plan
  addProbes?: ManagementOptions['addProbes']
  untilAllKnowIt?: ManagementOptions['untilAllKnowIt']
}

export interface Answer<T> {
  status: number
  body: T
  link: string | undefined
}

/** The management interface over `store`, called as a client of it would. Every call moves the clock on by 1 s. */
export class Management {
  readonly app: HttpApp
  readonly clock: TestClock
  /** What was published since the last look. */
  changes: Change[] = []

  constructor(app: HttpApp, clock: TestClock) {
    this.app = app
    this.clock = clock
  }

  async call<T>(method: Method, url: string, body?: unknown, token?: string): Promise<Answer<T>> {
    this.clock.advance(1_000)
    const response = await this.app.inject({
      method,
      url,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : bearer(token)),
      },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    })
    return {
      status: response.statusCode,
      // A file, such as CSV, is no JSON.
      body: isJson(response.headers['content-type']) ? response.json<T>() : JSON.parse('null'),
      link: response.headers.link?.toString(),
    }
  }

  get = async <T>(url: string, token?: string): Promise<T> =>
    this.#ok(200, await this.call<T>('GET', url, undefined, token))
  patch = async <T>(url: string, body: unknown, token?: string): Promise<T> =>
    this.#ok(200, await this.call<T>('PATCH', url, body, token))
  delete = async (url: string, token?: string): Promise<null> =>
    this.#ok(204, await this.call<null>('DELETE', url, undefined, token))

  client = async (extra: Partial<CreateClient> = {}, token?: string): Promise<ClientRecord> =>
    this.#ok(201, await this.call<ClientRecord>('POST', '/api/clients', { name: 'Acme', ...extra }, token))

  site = async (client: { id: string }, extra: Partial<CreateSite> = {}, token?: string): Promise<SiteRecord> => {
    const body = { client_id: client.id, name: 'Shop', url: 'https://shop.example', ...extra }
    return this.#ok(201, await this.call<SiteRecord>('POST', '/api/sites', body, token))
  }

  /** Asserts that the call is refused, and returns the error. */
  async refused(status: number, method: Method, url: string, body?: unknown, token?: string): Promise<ErrorBody> {
    return this.#ok(status, await this.call<ErrorBody>(method, url, body, token))
  }

  takeChanges(): Change[] {
    const taken = this.changes
    this.changes = []
    return taken
  }

  #ok<T>(status: number, answer: Answer<T>): T {
    assert.equal(answer.status, status, JSON.stringify(answer.body))
    return answer.body
  }
}

const isJson = (type: unknown): boolean => String(type).startsWith('application/json')

/** Those of the counts; sites without probes have nothing else to delete. */
const countsHooks = (clock: TestClock): DeletionHooks => ({
  removeOfSites: (trx, sites) => requestRemovals(trx, sites, clock.now()),
  removeOfClient: removeUsage,
})

export async function openManagement(store: Store, t: TestContext, options: Options = {}): Promise<Management> {
  const clock = new TestClock(NOW)
  const app = await openApp(t, () => undefined, { clock, publicUrl: null, access: options.access ?? NO_KEYS })
  createOncePerKey(app, { store, clock })
  managementRoutes(app, {
    store,
    clock,
    deletionHooks: countsHooks(clock),
    addProbes: options.addProbes ?? (() => Promise.resolve()),
    defaultPlan: options.defaultPlan ?? 'free',
    publicUrl: null,
    untilAllKnowIt: options.untilAllKnowIt ?? (() => Promise.resolve()),
  })
  const management = new Management(app, clock)
  t.after(store.changes.subscribe((change) => void management.changes.push(change)))
  return management
}

export const WITH_KEYS: Options = {
  access: { adminToken: ADMIN, viewerToken: VIEWER, listensOnLoopback: false },
}
