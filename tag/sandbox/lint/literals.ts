import type { Permission, Plain } from '../types.ts'
import type { ApiCall, CodeProblem } from './names.ts'

/** An API whose argument a permission may narrow: by which parameter, where the list stands, and what an entry allows. */
interface Narrowed {
  readonly permission: string
  readonly access: string
  readonly list: string
  readonly allows: (entry: Plain, text: string) => boolean
}

/** How patterns treat what lies below a key is unverified: here each reading passes, at run time only the narrow one. */
const allowsKey = (entry: Plain, text: string): boolean => {
  if (typeof entry !== 'string') return false
  const key = entry.endsWith('.*') ? entry.slice(0, -2) : entry
  return key === '*' || text === key || text.startsWith(`${key}.`)
}

const allowsName = (entry: Plain, text: string): boolean => entry === text || entry === '*'

/** Headers are named in any case. */
const allowsHeader = (entry: Plain, text: string): boolean =>
  typeof entry === 'object' &&
  entry !== null &&
  'headerName' in entry &&
  String(entry.headerName).toLowerCase() === text.toLowerCase()

const NARROWED: Readonly<Record<string, Narrowed>> = {
  getEventData: {
    permission: 'read_event_data',
    access: 'eventDataAccess',
    list: 'keyPatterns',
    allows: allowsKey,
  },
  getCookieValues: { permission: 'get_cookies', access: 'cookieAccess', list: 'cookieNames', allows: allowsName },
  getRequestHeader: {
    permission: 'read_request',
    access: 'headerAccess',
    list: 'headerWhitelist',
    allows: allowsHeader,
  },
}

/** What the code names in quotes and its permissions do not allow: the call ends the template there. */
export function deniedLiterals(permissions: readonly Permission[], calls: readonly ApiCall[]): CodeProblem[] {
  return calls.flatMap(({ api, text, line }) => {
    const narrowed = Object.hasOwn(NARROWED, api) ? NARROWED[api] : undefined
    const declared = permissions.find(({ publicId }) => publicId === narrowed?.permission)
    if (text === null || narrowed === undefined || declared === undefined) return []
    const { permission, access, list, allows } = narrowed
    if (declared.params[access] !== 'specific') return []
    const entries = declared.params[list]
    const isAllowed = Array.isArray(entries) && entries.some((entry: Plain) => allows(entry, text))
    return isAllowed ? [] : [{ line, rule: permission, message: `${permission} does not allow ${api}("${text}").` }]
  })
}
