import { systemClock } from '../../../src/lib/index.ts'
import { type Host, NotPlayed, requireFor, TemplateStorage } from '../apis/index.ts'
import { TEST_NAMES } from '../lint/index.ts'
import { PERMISSIONS, Permissions } from '../permissions.ts'
import { describeError, errorLine, type Inner, type InnerFunction, Realm } from '../realm/index.ts'
import type { Permission, Scenario, ScenarioResult, Template, TestSuite } from '../types.ts'
import { AssertionFailed, assertApi, assertThat } from './assertions.ts'
import { Mocks } from './mocks.ts'

const TEMPLATE = 'template-code'
const SCENARIO = 'scenario-code'

/** Runs one scenario in a context of its own, with the setup before it in the same scope. */
export function runScenario(template: Template, { setup }: TestSuite, { name, line, code }: Scenario): ScenarioResult {
  const setupLines = setup === null ? 0 : setup.text.split('\n').length
  const text = setup === null ? code.text : `${setup.text}\n${code.text}`
  const inFile = (at: number): number =>
    setup !== null && at <= setupLines ? setup.line + at - 1 : code.line + at - setupLines - 1
  try {
    const errors = new Stage(template).run(text)
    if (errors.length === 0) return { name, line, passed: true, error: null, isUnplayed: false }
    const isUnplayed = errors.some((error) => error instanceof NotPlayed)
    return { name, line, passed: false, error: errors.map(describeError).join('; '), isUnplayed }
  } catch (error) {
    const inTemplate = errorLine(error, TEMPLATE)
    const where = inTemplate === null ? '' : ` (line ${inTemplate} of the template)`
    const at = errorLine(error, SCENARIO)
    return {
      name,
      line: at === null ? line : inFile(at),
      passed: false,
      error: `${describeError(error)}${where}`,
      isUnplayed: error instanceof NotPlayed,
    }
  }
}

/** One scenario's surroundings: mocks, a throw-away storage (T), and no event. */
class Stage {
  readonly #errors: unknown[] = []
  readonly #realm = new Realm((error) => void this.#errors.push(error))
  readonly #mocks = new Mocks(this.#realm)
  readonly #require: (name: Inner) => Inner
  readonly #testRequire: (name: Inner) => Inner
  readonly #code: InnerFunction

  constructor({ permissions, code }: Template) {
    const host = stageHost(this.#realm, new Permissions(permissions))
    this.#require = requireFor(host)
    // The test's own code has no permissions of its own to keep to.
    this.#testRequire = requireFor({ ...host, permissions: new Permissions(EVERYTHING) })
    this.#code = this.#realm.compile({ ...code, file: TEMPLATE }, ['require', 'data'])
  }

  /** Runs the scenario's code. Gives what jobs threw and no one handled; throws what the code throws. */
  run(text: string): readonly unknown[] {
    const { inside, jobs } = this.#realm
    const given: Record<(typeof TEST_NAMES)[number], InnerFunction> = {
      runCode: (data) => this.#runCode(data),
      mock: (name, value) => this.#mocks.mock(String(name), value),
      mockObject: (name, object) => this.#mocks.mockObject(String(name), object),
      assertApi: (name) => assertApi(this.#realm, String(name), this.#mocks.calls(String(name))),
      assertThat: (subject, message) => assertThat(this.#realm, subject, message),
      fail: (message) => {
        throw new AssertionFailed(message === undefined ? 'fail() was called.' : String(message))
      },
    }
    const scenario = this.#realm.compile({ text, line: 1, file: SCENARIO }, ['require', ...TEST_NAMES])
    const require = inside.wrap((name) => this.#spied(this.#testRequire, name))
    jobs.run(() => scenario(require, ...TEST_NAMES.map((name) => inside.wrap(given[name]))))
    return this.#errors
  }

  #runCode(data: Inner): Inner {
    const { inside, jobs } = this.#realm
    const require = inside.wrap((name) => this.#spied(this.#require, name))
    const fields = typeof data === 'object' && data !== null ? data : {}
    const result = this.#code(require, inside.copy({ ...fields, ...this.#outcomes(fields) }))
    // The editor settles promises inside runCode (R), so that assertions may follow directly.
    jobs.drain()
    return result
  }

  /** gtmOnSuccess and gtmOnFailure: the scenario's own if it gives them, spied on in any case. */
  #outcomes(fields: object): Record<string, InnerFunction> {
    const own = (name: string): InnerFunction => {
      if (this.#mocks.has(name)) return this.#mocks.get(name) as InnerFunction
      const given = Object.entries(fields).find(([key]) => key === name)?.[1]
      return this.#mocks.spy(name, typeof given === 'function' ? given : () => undefined)
    }
    return { gtmOnSuccess: own('gtmOnSuccess'), gtmOnFailure: own('gtmOnFailure') }
  }

  /** A mock if there is one, which needs no permission (D); else the API with its calls noted. */
  #spied(require: (name: Inner) => Inner, asked: Inner): Inner {
    const name = String(asked)
    if (this.#mocks.has(name)) return this.#mocks.get(name)
    const api = require(name)
    return typeof api === 'function' ? this.#mocks.spy(name, api as InnerFunction) : api
  }
}

/** What those permissions take that have a choice: everything. */
const ANY: Readonly<Record<string, Permission['params']>> = {
  logging: { environments: 'all' },
  read_event_data: { eventDataAccess: 'any' },
  send_http: { allowedUrls: 'any' },
  use_message: { allowedActions: 'any' },
}

const EVERYTHING = [...PERMISSIONS].map((publicId) => ({ publicId, line: 0, params: ANY[publicId] ?? {} }))

/** What a container tells that previews a version, as the editor does: it runs the scenarios, and no event came. */
const VERSION = {
  containerId: 'GTM-TEST123',
  debugMode: true,
  environmentName: '',
  environmentMode: false,
  previewMode: true,
  version: 'QUICK_PREVIEW',
}

/** What has no sense without a container must be mocked: an unmocked request would really be sent by the editor (R). */
function stageHost(realm: Realm, permissions: Permissions): Host {
  const unmocked = (name: string) => (): never => {
    throw new NotPlayed(`${name} must be mocked: a unit test has no container around it.`)
  }
  return {
    realm,
    permissions,
    clock: systemClock,
    random: Math.random,
    storage: new TemplateStorage(),
    event: () => ({}),
    containerVersion: () => VERSION,
    clientName: unmocked('getClientName'),
    log: () => {},
    addEventCallback: () => {},
    addMessageListener: () => {},
    sendMessage: () => {},
    send: unmocked('sendHttpRequest'),
  }
}
