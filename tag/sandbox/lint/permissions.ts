import { apiNamed } from '../apis/index.ts'
import { PERMISSIONS } from '../permissions.ts'
import type { Finding, Permission, Plain, Template } from '../types.ts'
import type { RequireCall } from './names.ts'

const RULE = 'permissions'

/** Missing, unused, doubled and senseless permissions. The editor derives the same set from the require calls (D). */
export function lintPermissions({ permissions, code }: Template, calls: readonly RequireCall[]): Finding[] {
  const needed = new Map<string, RequireCall>()
  for (const call of calls) {
    const permission = apiNamed(call.api)?.permission ?? null
    if (permission !== null && !needed.has(permission)) needed.set(permission, call)
  }
  const declared = permissions.map(({ publicId }) => publicId)
  const missing = [...needed].filter(([permission]) => !declared.includes(permission))
  return [
    ...missing.map(([permission, { api, line }]) => ({
      line: code.line + line - 1,
      rule: RULE,
      message: `require("${api}") needs the permission ${permission}, which is not declared.`,
    })),
    ...permissions.flatMap((permission, index) => {
      const { publicId, line } = permission
      const problem =
        declared.indexOf(publicId) < index
          ? `The permission ${publicId} is declared twice.`
          : (unneeded(publicId, needed) ?? paramProblem(permission))
      return problem === null ? [] : [{ line, rule: RULE, message: problem }]
    }),
    ...allEventData(permissions, calls),
  ]
}

function unneeded(publicId: string, needed: ReadonlyMap<string, RequireCall>): string | null {
  if (needed.has(publicId)) return null
  return PERMISSIONS.has(publicId)
    ? `The permission ${publicId} is declared, but no required API needs it.`
    : `The permission ${publicId} belongs to no API that this runner plays.`
}

/** Parameters as seen in published templates (O). */
function paramProblem({ publicId, params }: Permission): string | null {
  switch (publicId) {
    case 'logging':
      return oneOf(params.environments, ['debug', 'all']) ? null : 'logging: environments must be "debug" or "all".'
    case 'send_http':
      return choice(publicId, params, 'allowedUrls', 'urls')
    case 'read_event_data':
      return choice(publicId, params, 'eventDataAccess', 'keyPatterns')
    case 'use_message':
      return messageProblem(params)
    default:
      return Object.keys(params).length === 0 ? null : `${publicId} takes no parameters.`
  }
}

function choice(publicId: string, params: Permission['params'], access: string, list: string): string | null {
  if (!oneOf(params[access], ['any', 'specific'])) return `${publicId}: ${access} must be "any" or "specific".`
  const items = params[list]
  const texts = Array.isArray(items) && items.length > 0 && items.every((item) => typeof item === 'string')
  return params[access] === 'any' || texts ? null : `${publicId}: "specific" needs a list of texts in ${list}.`
}

function messageProblem({ allowedActions, messageTypes }: Permission['params']): string | null {
  if (allowedActions === 'any') return null
  if (allowedActions !== 'specific') return 'use_message: allowedActions must be "any" or "specific".'
  const isNamed = (entry: Plain) =>
    typeof entry === 'object' &&
    entry !== null &&
    'type' in entry &&
    'action' in entry &&
    typeof entry.type === 'string' &&
    oneOf(entry.action, ['listen', 'send', 'listen_and_send'])
  const isList = Array.isArray(messageTypes) && messageTypes.length > 0 && messageTypes.every(isNamed)
  return isList ? null : 'use_message: "specific" needs a list of maps with type and action in messageTypes.'
}

function allEventData(permissions: readonly Permission[], calls: readonly RequireCall[]): Finding[] {
  const narrow = permissions.find(
    ({ publicId, params }) => publicId === 'read_event_data' && params.eventDataAccess === 'specific',
  )
  if (narrow === undefined || !calls.some(({ api }) => api === 'getAllEventData')) return []
  return [{ line: narrow.line, rule: RULE, message: 'getAllEventData needs read_event_data with access to any key.' }]
}

const oneOf = (value: Plain, allowed: readonly string[]): boolean =>
  typeof value === 'string' && allowed.includes(value)
