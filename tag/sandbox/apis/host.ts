import type { Clock } from '../../../src/lib/index.ts'
import type { Permissions } from '../permissions.ts'
import type { Inner, InnerFunction, Realm } from '../realm/index.ts'
import type { Plain } from '../types.ts'
import type { TemplateStorage } from './storage.ts'

/** An HTTP request as the sandbox asks for it. `timeout` in milliseconds. */
export interface OutgoingRequest {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly timeout: number
}

export interface Answer {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** How the sandbox names a request that got no answer (T). */
export type FailureReason = 'failed' | 'timed_out'

export interface Settlement {
  readonly answered: (answer: Answer) => void
  readonly failed: (reason: FailureReason) => void
  /** The promise ends before the request; a callback never does. */
  readonly gaveUp?: () => void
}

/** What stands around one run of the template: the container's side of the APIs. */
export interface Host {
  readonly realm: Realm
  readonly permissions: Permissions
  readonly clock: Clock
  /** A number in [0, 1). */
  readonly random: () => number
  readonly storage: TemplateStorage
  readonly event: () => Plain
  readonly containerVersion: () => Plain
  readonly clientName: () => string
  readonly log: (text: string) => void
  readonly addEventCallback: (callback: InnerFunction) => void
  readonly addMessageListener: (type: string, callback: InnerFunction) => void
  readonly sendMessage: (type: string, message: Inner) => void
  /** Sends and settles later, within the realm's jobs. */
  readonly send: (request: OutgoingRequest, settlement: Settlement) => void
}
