import { setTimeout } from 'node:timers/promises'
import type { ApiTokenRecord } from '../../accounts/index.ts'
import { type Grants, isApiToken, type Session } from '../../http/index.ts'
import { type ErrorDetail, fieldsOf, isObject, newId, SECOND, StartupError } from '../../lib/index.ts'
import type { ServiceSettings } from '../../operations/index.ts'
import { whyUnreachable } from '../post.ts'
import { type Answered, exchange } from './exchange.ts'

const TIMEOUT_MS = 60 * SECOND
/** Attempts at a call that the service answers with 429 or 503. */
const MOST_ATTEMPTS = 8
const LONGEST_WAIT_MS = 30 * SECOND
/** Entries per page of a list. */
const PAGE = 1_000

/** A refusal by the service, with its own message. */
export class RefusedError extends StartupError {
  readonly status: number
  readonly details: readonly ErrorDetail[]

  constructor(status: number, message: string, details: readonly ErrorDetail[] = []) {
    super(message)
    this.name = 'RefusedError'
    this.status = status
    this.details = details
  }
}

/** The service has another of the name. */
export class NameTakenError extends StartupError {}

export interface ApiTarget {
  /** Without a trailing slash. */
  url: string
  token: string | null
}

/** What matters about the caller for what they may apply. */
export interface Caller {
  /** Whether the service requires no sign-in. */
  isOpen: boolean
  /** The role for all clients; null without one. */
  all: Grants['all']
  /** The ids of the clients that the caller owns, besides `all`. */
  owned: readonly string[]
  /** The address of the caller's account; null without one. */
  email: string | null
}

/** The HTTP API of a running service. Every method throws StartupError, and RefusedError for a refusal. */
export class Api {
  readonly #target: ApiTarget
  /** Whether the service knows `only_new`, which 0.1 does not; assumed until it refuses it. */
  #knowsOnlyNew = true

  constructor({ url, token: given }: ApiTarget) {
    // A token read from a file ends with a line break.
    const token = given?.trim() ?? null
    if (token !== null && !/^[ -~]+$/.test(token)) {
      throw new StartupError(
        'the token is empty, or has characters that a token cannot have, like a line break (TAGWARDEN_TOKEN)',
      )
    }
    this.#target = { url, token }
  }

  get url(): string {
    return this.#target.url
  }

  /**
   * Requires a token that sees all fields: a hidden field would look like a difference.
   *
   * @returns the caller
   */
  async requireFullSight(): Promise<Caller> {
    const session = await this.get('/api/session')
    if (!isObject(session) || !('role' in session)) throw new StartupError(`${this.url} is not a Tagwarden service`)
    if (session.role === null) throw new StartupError(`${this.url} needs a token: set TAGWARDEN_TOKEN`)
    if (rolesIn(session).includes('viewer')) {
      throw new StartupError(
        "a viewer's token does not see all fields: use ADMIN_TOKEN, or an API token of an editor or owner",
      )
    }
    const { email } = fieldsOf(session.user)
    const { access: { all, clients } = { all: null, clients: [] } } = session as Partial<Session>
    return {
      isOpen: session.role === 'open',
      ...{ all, owned: clients.filter(({ role }) => role === 'owner').map(({ client_id }) => client_id) },
      email: typeof email === 'string' ? email : null,
    }
  }

  /** The service's settings; null for a caller of single clients, who may not read them. */
  async settings(): Promise<Partial<ServiceSettings> | null> {
    try {
      return await this.get('/api/settings')
    } catch (thrown) {
      if (thrown instanceof RefusedError && thrown.status === 403) return null
      throw thrown
    }
  }

  /** The people who may have created this API token; its last characters are all the service shows of one, so several can match. */
  async makersOfToken(): Promise<string[]> {
    const { token } = this.#target
    if (token === null || !isApiToken(token)) return []
    const tokens = await this.get<ApiTokenRecord[]>('/api/tokens')
    return tokens.filter(({ hint }) => token.endsWith(hint)).map(({ created_by }) => created_by)
  }

  async get<T>(path: string): Promise<T> {
    return (await this.send<T>('GET', path)).value
  }

  /** All entries of a list, page by page. */
  async list<T>(path: string): Promise<T[]> {
    const entries: T[] = []
    let next: string | null = `${path}?limit=${PAGE}`
    while (next !== null) {
      const page: { value: T[]; next: string | null } = await this.send<T[]>('GET', next)
      entries.push(...page.value)
      next = page.next
    }
    return entries
  }

  async bytes(path: string): Promise<Buffer> {
    return (await this.#answer('GET', path, undefined)).body
  }

  /** @returns the parsed JSON, undefined for an empty answer, and the path of the next page */
  async send<T>(method: string, path: string, body?: unknown): Promise<{ value: T; next: string | null }> {
    const answer = await this.#answer(method, path, body)
    const text = answer.body.toString()
    const next = /^<([^>]+)>; rel="next"$/.exec(String(answer.headers.link ?? ''))?.[1] ?? null
    try {
      return { value: (text === '' ? undefined : JSON.parse(text)) as T, next }
    } catch {
      throw new StartupError(`${method} ${path} of ${this.url} was not answered with JSON: is it a Tagwarden service?`)
    }
  }

  /** Creates something, unless there is another of its name: then it throws `NameTakenError`. A service of 0.1 creates it anyway. */
  async create<T>(path: string, body: unknown): Promise<T> {
    if (!this.#knowsOnlyNew) return (await this.send<T>('POST', path, body)).value
    try {
      return (await this.send<T>('POST', `${path}${path.includes('?') ? '&' : '?'}only_new=true`, body)).value
    } catch (thrown) {
      if (!(thrown instanceof RefusedError)) throw thrown
      const isFaultOf = (field: string) => thrown.details.some((detail) => detail.path === `/${field}`)
      if (thrown.status === 409 && (isFaultOf('name') || isFaultOf('title'))) throw new NameTakenError(thrown.message)
      if (thrown.status !== 400 || !isFaultOf('only_new')) throw thrown
      this.#knowsOnlyNew = false
      return this.create(path, body)
    }
  }

  async #answer(method: string, path: string, body: unknown): Promise<Answered> {
    // After a failure it is unknown whether a creation was committed. Repeating it with the same key creates only one.
    const key = newId()
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#ask(method, path, body, key)
      if (answer.status >= 200 && answer.status < 300) return answer
      const waitMs = waitOf(answer)
      if (waitMs === null || attempt === MOST_ATTEMPTS) throw this.#refusal(method, path, answer)
      await setTimeout(waitMs)
    }
  }

  async #ask(method: string, path: string, body: unknown, key: string): Promise<Answered> {
    const { url, token } = this.#target
    try {
      return await exchange(url + path, {
        method,
        headers: {
          accept: 'application/json',
          ...(method === 'POST' ? { 'idempotency-key': key } : {}),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        timeoutMs: TIMEOUT_MS,
      })
    } catch (thrown) {
      throw new StartupError(`no answer from ${url}: ${whyUnreachable(thrown)}`)
    }
  }

  #refusal(method: string, path: string, { status, headers, body: bytes }: Answered): RefusedError {
    const { url } = this
    if (status >= 300 && status < 400) {
      const { location = 'elsewhere' } = headers
      // A proxy's redirect to its sign-in page has another path: its host is not the address of the service.
      const isMoved = location.endsWith(path)
      const there = isMoved ? location.slice(0, -path.length) : location
      const advice = isMoved ? 'give this as --url' : 'is it a Tagwarden service?'
      return new RefusedError(status, `${url} redirects to ${there}: ${advice}`)
    }
    const body = jsonOf(bytes)
    if (!isObject(body) || typeof body.message !== 'string') {
      return new RefusedError(status, `${method} ${path} of ${url} was answered ${status}: is it a Tagwarden service?`)
    }
    // The first call of every command exists in every version and needs no key; what does not exist needs one.
    const isElsewhere = status === 404 || (status === 401 && this.#target.token === null)
    if (isElsewhere && path === '/api/session') {
      return new RefusedError(
        status,
        `${url} is not the address of the service: give it without a path such as /api or /ingest`,
      )
    }
    const hint = status === 401 ? ' (TAGWARDEN_TOKEN)' : ''
    return new RefusedError(status, `${body.message}${hint}`, faultsIn(body.details))
  }
}

/** Every role of a session: its own, and those that an API token has for all or for single clients. */
function rolesIn({ role, access }: Record<string, unknown>): unknown[] {
  const { all, clients } = fieldsOf(access)
  return [role, all, ...(Array.isArray(clients) ? clients.map((client: unknown) => fieldsOf(client).role) : [])]
}

/** Time to wait before repeating the call, ms; null when it is not to be repeated. */
function waitOf({ status, headers }: Answered): number | null {
  if (status !== 429 && status !== 503) return null
  const seconds = Number(headers['retry-after'] ?? 1)
  const ms = Number.isFinite(seconds) ? Math.max(1, seconds) * SECOND : SECOND
  return ms <= LONGEST_WAIT_MS ? ms : null
}

/** Null when it is not JSON. */
function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return null
  }
}

const faultsIn = (details: unknown): ErrorDetail[] =>
  Array.isArray(details)
    ? details.flatMap((detail: unknown) =>
        isObject(detail) && typeof detail.path === 'string' && typeof detail.message === 'string'
          ? [{ path: detail.path, message: detail.message }]
          : [],
      )
    : []

/** Calls at a time. The service works on six for one caller; the other two stay free for people. */
const AT_A_TIME = 4

/** Runs `work` for each item in order, `AT_A_TIME` in parallel. After a failure no other begins; throws when those begun are done. */
export async function forEachOf<T>(
  items: readonly T[],
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  const waiting = items.entries()
  let isFailed = false
  const line = async (): Promise<void> => {
    for (const [index, item] of waiting) {
      if (isFailed) return
      try {
        await work(item, index)
      } catch (thrown) {
        isFailed = true
        throw thrown
      }
    }
  }
  const results = await Promise.allSettled(Array.from({ length: AT_A_TIME }, line))
  for (const result of results) if (result.status === 'rejected') throw result.reason
}
