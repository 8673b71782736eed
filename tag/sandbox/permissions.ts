import { APIS, apiNamed } from './apis/table.ts'
import type { Permission, Plain } from './types.ts'

/** The template did what its permissions do not allow. A container ends the tag at that point. */
export class PermissionError extends Error {
  override readonly name = 'PermissionError'
}

/** What ___SERVER_PERMISSIONS___ allows, asked at run time. */
export class Permissions {
  readonly #params = new Map<string, Readonly<Record<string, Plain>>>()
  /** Of `read_event_data`, which is asked for each key of each event. */
  readonly #keyPatterns: readonly string[]

  constructor(list: readonly Permission[]) {
    for (const { publicId, params } of list) this.#params.set(publicId, params)
    this.#keyPatterns = textList(this.#params.get('read_event_data')?.keyPatterns ?? null)
  }

  /** Throws unless the permission behind an API is declared. */
  demandApi(name: string): void {
    const permission = apiNamed(name)?.permission ?? null
    if (permission !== null && !this.#params.has(permission)) {
      throw new PermissionError(`require("${name}") needs the permission ${permission}, which is not declared.`)
    }
  }

  demandUrl(url: string): void {
    if (!this.allows('send_http', url)) throw new PermissionError(`send_http does not allow ${url}.`)
  }

  demandEventKey(path: string): void {
    if (!this.allows('read_event_data', path)) throw new PermissionError(`read_event_data does not allow "${path}".`)
  }

  demandMessage(type: string, action: 'listen' | 'send'): void {
    const { allowedActions, messageTypes } = this.#params.get('use_message') ?? {}
    const isAllowed = messageList(messageTypes).some(
      (entry) => entry.type === type && (entry.action === action || entry.action === 'listen_and_send'),
    )
    if (allowedActions === 'any' || isAllowed) return
    throw new PermissionError(`use_message does not allow to ${action} “${type}”.`)
  }

  demandAllEventData(): void {
    if (this.#params.get('read_event_data')?.eventDataAccess === 'any') return
    throw new PermissionError('getAllEventData needs read_event_data with access to any key.')
  }

  /** "debug" prints in preview sessions only, "all" always. */
  prints(preview: boolean): boolean {
    const environments = this.#params.get('logging')?.environments
    return environments === 'all' || (environments === 'debug' && preview)
  }

  /** What queryPermission answers. `subject` is the address or the key path where the permission has a list of them. */
  allows(permission: string, subject?: string): boolean {
    const params = this.#params.get(permission)
    if (params === undefined) return false
    if (permission === 'send_http' && subject !== undefined) return allowsUrl(params, subject)
    if (permission === 'read_event_data' && subject !== undefined) return this.#allowsKey(params, subject)
    return true
  }

  /**
   * A pattern allows its own key only, `user_data.*` all below it. How the real sandbox treats children is unverified, so
   * the narrower reading holds.
   */
  #allowsKey(params: Readonly<Record<string, Plain>>, path: string): boolean {
    if (params.eventDataAccess === 'any') return true
    return this.#keyPatterns.some((pattern) =>
      pattern.endsWith('.*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern,
    )
  }
}

/** Each permission that some API needs. */
export const PERMISSIONS: ReadonlySet<string> = new Set(
  Object.values(APIS).flatMap(({ permission }) => (permission === null ? [] : [permission])),
)

function allowsUrl(params: Readonly<Record<string, Plain>>, text: string): boolean {
  if (params.allowedUrls === 'any') return true
  const url = URL.canParse(text) ? new URL(text) : null
  return url !== null && textList(params.urls).some((pattern) => matchesUrl(pattern, url))
}

const PATTERN = /^(?<protocol>https?:)\/\/(?<host>[^/]+)(?<path>\/.*)?$/

/** `*.` before a host stands for its subdomains, `*` in a path for anything; a path without one is a prefix. */
function matchesUrl(pattern: string, url: URL): boolean {
  const { protocol, host = '', path = '/' } = PATTERN.exec(pattern)?.groups ?? {}
  if (protocol !== url.protocol) return false
  const sameHost = host.startsWith('*.') ? url.host.endsWith(host.slice(1)) : url.host === host.toLowerCase()
  if (!sameHost) return false
  return matchesPath(path.split('*'), `${url.pathname}${url.search}`)
}

function matchesPath([prefix = '', ...others]: readonly string[], text: string): boolean {
  if (!text.startsWith(prefix)) return false
  let at = prefix.length
  for (const part of others) {
    const found = text.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return true
}

const messageList = (value: Plain): Readonly<Record<string, Plain>>[] =>
  Array.isArray(value)
    ? value.filter((item): item is Readonly<Record<string, Plain>> => typeof item === 'object' && item !== null)
    : []

const textList = (value: Plain): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : []
