import { apiNamed } from '../apis/index.ts'
import { PERMISSIONS } from '../permissions.ts'
import type { Finding, Permission, Plain, Template } from '../types.ts'
import type { CodeUses } from './code.ts'
import { deniedLiterals } from './literals.ts'
import type { ApiCall, RequireCall } from './names.ts'

const RULE = 'permissions'

/** Missing, unused, doubled and senseless permissions. The editor derives the same set from the require calls (D). */
export function lintPermissions({ permissions, code }: Template, { required, calls }: CodeUses): Finding[] {
  const needed = new Map<string, RequireCall>()
  for (const call of required) {
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
    ...permissions.flatMap((permission, index) =>
      declared.indexOf(permission.publicId) < index
        ? [error(permission, `The permission ${permission.publicId} is declared twice.`)]
        : [...useProblem(permission, needed), ...paramProblems(permission)],
    ),
    ...allEventData(permissions, calls),
    ...deniedLiterals(permissions, calls).map(({ line, message }) => ({
      line: code.line + line - 1,
      rule: RULE,
      message,
    })),
  ]
}

const error = ({ line }: Permission, message: string): Finding => ({ line, rule: RULE, message })

/** What is not needed is only more than the template asks of its users: the editor drops it at the next change. */
function useProblem({ publicId, line }: Permission, needed: ReadonlyMap<string, RequireCall>): Finding[] {
  if (needed.has(publicId)) return []
  return PERMISSIONS.has(publicId)
    ? [{ line, rule: 'style', message: `The permission ${publicId} is declared, but no required API needs it.` }]
    : [{ line, rule: RULE, message: `The permission ${publicId} belongs to no API of a server container.` }]
}

/** Permissions that are given or not, and take no parameters (O). */
const PLAIN_PERMISSIONS = [
  'access_template_storage',
  'read_container_data',
  'read_event_metadata',
  'return_response',
  'run_container',
]

/** Permissions that are for anything or for what a list names: the parameter that says which, and the lists (O). */
const CHOICES: Readonly<Record<string, { access: string; lists: readonly string[] }>> = {
  get_cookies: { access: 'cookieAccess', lists: ['cookieNames'] },
  read_event_data: { access: 'eventDataAccess', lists: ['keyPatterns'] },
  send_http: { access: 'allowedUrls', lists: ['urls', 'allowGoogleDomains'] },
  send_pixel_from_browser: { access: 'allowedUrls', lists: ['urls'] },
}

function paramProblems(permission: Permission): Finding[] {
  const { publicId, params } = permission
  const choice = Object.hasOwn(CHOICES, publicId) ? CHOICES[publicId] : undefined
  if (choice !== undefined) return choiceProblems(permission, choice.access, choice.lists)
  const message = paramProblem(publicId, params)
  return message === null ? [] : [error(permission, message)]
}

function paramProblem(publicId: string, params: Permission['params']): string | null {
  if (publicId === 'use_message') return messageProblem(params)
  if (publicId === 'logging') {
    return oneOf(params.environments, ['debug', 'all']) ? null : 'logging: environments must be "debug" or "all".'
  }
  return PLAIN_PERMISSIONS.includes(publicId) && Object.keys(params).length > 0
    ? `${publicId} takes no parameters.`
    : null
}

function choiceProblems(permission: Permission, access: string, lists: readonly string[]): Finding[] {
  const { publicId, line, params } = permission
  if (!oneOf(params[access], ['any', 'specific'])) {
    return [error(permission, `${publicId}: ${access} must be "any" or "specific".`)]
  }
  const unknown = Object.keys(params).find((key) => key !== access && !lists.includes(key))
  if (unknown !== undefined) return [error(permission, `${publicId} has no parameter ${unknown}.`)]
  const [first = ''] = lists
  const items = params[first]
  if (items !== undefined && !(Array.isArray(items) && items.every((item) => typeof item === 'string'))) {
    return [error(permission, `${publicId}: ${first} must be a list of texts.`)]
  }
  if (params[access] === 'any' || lists.some((name) => namesAny(params[name]))) return []
  return [
    { line, rule: 'style', message: `${publicId}: "specific" without a list of texts in ${first} allows nothing.` },
  ]
}

/** A list with entries, or a box that is ticked. */
const namesAny = (value: Plain): boolean => (Array.isArray(value) ? value.length > 0 : value === true)

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

function allEventData(permissions: readonly Permission[], calls: readonly ApiCall[]): Finding[] {
  const narrow = permissions.find(
    ({ publicId, params }) => publicId === 'read_event_data' && params.eventDataAccess === 'specific',
  )
  if (narrow === undefined || !calls.some(({ api }) => api === 'getAllEventData')) return []
  return [error(narrow, 'getAllEventData needs read_event_data with access to any key.')]
}

const oneOf = (value: Plain, allowed: readonly string[]): boolean =>
  typeof value === 'string' && allowed.includes(value)
