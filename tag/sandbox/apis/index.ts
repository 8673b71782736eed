import { type Inner, type InnerFunction, show } from '../realm/index.ts'
import { getAllEventData, getEventData } from './event.ts'
import type { Host } from './host.ts'
import { sendHttpGet, sendHttpRequest } from './http.ts'
import { REQUEST } from './request.ts'
import { apiNamed, unknownApi } from './table.ts'
import {
  createRegex,
  decodeUri,
  decodeUriComponent,
  encodeUri,
  encodeUriComponent,
  fromBase64,
  parseUrl,
  testRegex,
  toBase64,
} from './texts.ts'
import {
  generateRandom,
  getType,
  jsonApi,
  makeInteger,
  makeNumber,
  makeString,
  makeTableMap,
  mathApi,
  objectApi,
  sha256,
} from './values.ts'

export type { Answer, FailureReason, Host, OutgoingRequest, Settlement } from './host.ts'
export { TemplateStorage } from './storage.ts'
export { APIS, apiNamed, isObjectApi, unknownApi } from './table.ts'

/** The `require` of one run. Refuses an API that is unknown or whose permission is not declared. */
export function requireFor(host: Host): (name: Inner) => Inner {
  const built = new Map<string, Inner>()
  return (asked) => {
    const name = String(asked)
    if (apiNamed(name) === undefined) throw new TypeError(unknownApi(name))
    host.permissions.demandApi(name)
    if (!built.has(name)) built.set(name, build(host, name))
    return built.get(name)
  }
}

function build(host: Host, name: string): Inner {
  const object = OBJECTS[name]
  if (object !== undefined) return object(host)
  const { inside } = host.realm
  const call = FUNCTIONS[name]
  if (call !== undefined) return inside.wrap((...args) => call(host, args))
  // Only a call fails: a template requires at its top what a scenario may never reach.
  const refusal = inside.wrap(() => {
    throw new NotPlayed(`This runner does not play ${name}: a scenario has to mock it.`)
  })
  const members = MEMBERS[name]
  return members === undefined ? refusal : inside.object(Object.fromEntries(members.map((member) => [member, refusal])))
}

/** The template called a real API that this runner does not play: nothing is said about the template. */
export class NotPlayed extends Error {
  override readonly name = 'NotPlayed'
}

/** The functions of the objects that are not played (T). */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  BigQuery: ['insert'],
  Firestore: ['read', 'write', 'query', 'runTransaction'],
}

const OBJECTS: Readonly<Record<string, (host: Host) => Inner>> = {
  JSON: jsonApi,
  Math: mathApi,
  Object: objectApi,
  Promise: ({ realm: { inside, promises } }) =>
    inside.object({
      create: inside.wrap((resolver) =>
        promises.create((resolve, reject) =>
          callable(resolver, 'Promise.create')(inside.wrap(resolve), inside.wrap(reject)),
        ),
      ),
      all: inside.wrap((inputs) => promises.all(Array.isArray(inputs) ? Array.from(inputs) : [])),
    }),
  templateDataStorage: ({ realm, storage }) => storage.api(realm),
}

const FUNCTIONS: Readonly<Record<string, (host: Host, args: readonly Inner[]) => Inner>> = {
  ...REQUEST,
  addEventCallback: (host, [callback]) => host.addEventCallback(callable(callback, 'addEventCallback')),
  addMessageListener: (host, [type, callback]) => {
    host.permissions.demandMessage(String(type), 'listen')
    // What is no function is no listener (D).
    if (typeof callback === 'function') host.addMessageListener(String(type), callback as InnerFunction)
  },
  sendMessage: (host, [type, message]) => {
    host.permissions.demandMessage(String(type), 'send')
    host.sendMessage(String(type), message)
  },
  sendHttpRequest,
  sendHttpGet,
  getEventData: (host, [path]) => getEventData(host, path),
  getAllEventData: (host) => getAllEventData(host),
  getContainerVersion: ({ realm, containerVersion }) => realm.inside.copy(containerVersion()),
  getClientName: ({ clientName }) => clientName(),
  logToConsole: ({ log }, values) =>
    log(values.map((value) => (typeof value === 'string' ? value : show(value))).join(' ')),
  getTimestampMillis: ({ clock }) => clock.now(),
  getTimestamp: ({ clock }) => clock.now(),
  getType: (_, [value]) => getType(value),
  makeString: (_, [value]) => makeString(value),
  makeNumber: (_, [value]) => makeNumber(value),
  makeInteger: (_, [value]) => makeInteger(value),
  makeTableMap: ({ realm }, [table, key, value]) => realm.inside.copy(makeTableMap(table, key, value)),
  callLater: ({ realm: { jobs } }, [job]) => jobs.add(() => void callable(job, 'callLater')()),
  sha256Sync: (_, [value, options]) => sha256(value, options),
  sha256: ({ realm: { jobs } }, [value, onSuccess, options]) =>
    jobs.add(() => void callable(onSuccess, 'sha256')(sha256(value, options))),
  encodeUri: (_, [text]) => encodeUri(text),
  encodeUriComponent: (_, [text]) => encodeUriComponent(text),
  decodeUri: (_, [text]) => decodeUri(text),
  decodeUriComponent: (_, [text]) => decodeUriComponent(text),
  toBase64: (_, [text, options]) => toBase64(text, options),
  fromBase64: (_, [text]) => fromBase64(text),
  createRegex: ({ realm }, [pattern, flags]) => createRegex(realm.inside, pattern, flags),
  testRegex: (_, [regex, text]) => testRegex(regex, text),
  parseUrl: ({ realm }, [text]) => realm.inside.copy(parseUrl(text)),
  generateRandom: ({ random }, [min, max]) => generateRandom(random, min, max),
  queryPermission: ({ permissions }, [permission, subject]) =>
    permissions.allows(String(permission), subject === undefined ? undefined : String(subject)),
}

function callable(value: Inner, what: string): InnerFunction {
  if (typeof value !== 'function') throw new TypeError(`${what} needs a function, not ${show(value)}.`)
  return value as InnerFunction
}
