import type { Clock } from '../../src/lib/index.ts'

/** Any value that may cross the border of the sandbox: plain data, no class instances. */
export type Plain = undefined | null | string | number | boolean | readonly Plain[] | { readonly [key: string]: Plain }

/** A rule that the template breaks. `line` counts from 1 in the .tpl file. */
export interface Finding {
  readonly line: number
  readonly rule: string
  readonly message: string
}

/** A stretch of text of the .tpl file. `line` is the one-based line of its first character. */
export interface Section {
  readonly line: number
  readonly text: string
}

export interface Scenario {
  readonly name: string
  /** The line of the name. */
  readonly line: number
  readonly code: Section
}

export interface TestSuite {
  readonly scenarios: readonly Scenario[]
  /** Runs before each scenario, in the same scope. */
  readonly setup: Section | null
}

/** One entry of ___SERVER_PERMISSIONS___: its parameters as plain values (2 is a list, 3 a map, 8 a boolean). */
export interface Permission {
  readonly publicId: string
  readonly line: number
  readonly params: Readonly<Record<string, Plain>>
}

/** One field of the settings form, with the groups around it taken away. */
export interface Parameter {
  readonly name: string
  readonly type: string
  readonly line: number
  readonly defaultValue: Plain
  /** The JSON object as it is in the file. */
  readonly source: Readonly<Record<string, Plain>>
}

export interface Template {
  /** The whole file, without the byte-order mark. */
  readonly text: string
  readonly terms: Section | null
  /** Line of text before the first section, or null: an import reads past it (O). */
  readonly preamble: number | null
  readonly info: { readonly line: number; readonly value: Readonly<Record<string, Plain>> }
  readonly parameters: readonly Parameter[]
  readonly code: Section
  readonly permissions: readonly Permission[]
  readonly tests: TestSuite
  readonly notes: Section
}

/** What became of one scenario of ___TESTS___. `error` is null if it passed; `line` is where it failed, if known. */
export interface ScenarioResult {
  readonly name: string
  readonly line: number
  readonly passed: boolean
  readonly error: string | null
  /** It failed because it needs a real API that this runner does not play: that says nothing about the template. */
  readonly isUnplayed: boolean
}

/** A tag of the container beside the template's own, as the event callback reports it. */
export interface OtherTag {
  readonly id: number
  /** `success`, `failure`, `exception` or `timeout`; anything else is passed on as it is. */
  readonly status: string
  /** Milliseconds; left out of the entry if undefined. */
  readonly executionTime?: number
  /** Flat on the entry, as "Additional Tag Metadata" is. The tag name is one of them, under the key that the user chose. */
  readonly metadata?: Readonly<Record<string, string>>
  /** What it sends with sendMessage while it runs: after the template's own code, and before the callbacks of the event. */
  readonly messages?: readonly TagMessage[]
}

/** A message to the listeners of its type. */
export interface TagMessage {
  readonly type: string
  readonly message: Plain
}

export type TagStatus = 'success' | 'failure' | 'exception' | 'timeout'

export interface ContainerOptions {
  readonly template: Template
  /** `data` of the tag: the settings form as filled in. What is missing has the parameter's default. */
  readonly fields: Readonly<Record<string, Plain>>
  /** Where `getTimestampMillis` gets the time from. */
  readonly clock: Clock
  /** How many instances serve the container; 1 if left out. Each has its own templateDataStorage. */
  readonly instances?: number
  /** `GTM-TEST123` if left out. */
  readonly containerId?: string
  /** Name of the environment that it serves outside of previews; `Live` if left out. */
  readonly environment?: string
  /** Id of the template's own tag in the container; 1 if left out. */
  readonly tagId?: number
  /** Metadata of the template's own tag, such as its name. */
  readonly tagMetadata?: Readonly<Record<string, string>>
  /**
   * Which address answers for which origin, as DNS and a proxy that ends TLS would have it:
   * `{ 'https://tagwarden.test': 'http://127.0.0.1:8080' }`. Path, query and the Host header stay as the template sent
   * them. An origin that is not listed does not exist: its requests fail and never touch the network.
   */
  readonly connect: Readonly<Record<string, string>>
  /** Real milliseconds that pass for each millisecond of a timeout that the template asks for; 1 if left out. A function is called for each timeout. */
  readonly timeoutScale?: number | (() => number)
  /**
   * Rejects a promise of sendHttpRequest after so many (scaled) milliseconds although the request continues. Off if left
   * out: the note that promises end after five seconds does not say which ones.
   */
  readonly promiseTimeout?: number
  /** Where generateRandom gets its numbers in [0, 1) from; Math.random if left out. */
  readonly random?: () => number
}

export interface FireOptions {
  /** Which instance serves the event; the next one in turn if left out. */
  readonly instance?: number
  /** The event comes from a preview session: throw-away storage, debug logging. */
  readonly preview?: boolean
}

/** One event, from the firing of the tag to the end of its callbacks. */
export interface EventRun {
  readonly instance: number
  /** How the container saw the template's own tag. */
  readonly status: TagStatus
  /** What threw: the tag's code or a callback. Empty for a sound template. */
  readonly errors: readonly string[]
}

export interface LogLine {
  readonly instance: number
  readonly text: string
}

export type RequestOutcome = 'pending' | 'answered' | 'failed' | 'timed_out' | 'lost'

/** One call of sendHttpRequest, as it left the sandbox. */
export interface SentRequest {
  readonly instance: number
  readonly method: string
  /** As the template gave it. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Method, address, headers and body in one text: what a test searches for content that must not leave. */
  readonly bytes: string
  readonly outcome: RequestOutcome
  /** Null without an answer. */
  readonly statusCode: number | null
  /** Why there was no answer, in the network's words. */
  readonly error: string | null
}

export interface SentCounters {
  requests: number
  /** Answered with any status. */
  answered: number
  /** Answered with 200 to 299. */
  accepted: number
  failed: number
  timedOut: number
  /** Cut off because their instance was lost. */
  lost: number
  bodyBytes: number
}

/** What went with an instance. */
export interface LostInstance {
  /** Its templateDataStorage at that moment. */
  readonly storage: Readonly<Record<string, Plain>>
  /** Requests that were under way. */
  readonly requests: number
}
