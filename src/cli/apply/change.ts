import type { Source } from './wanted.ts'

/** The change of one field, as people see it. */
export interface FieldChange {
  name: string
  before: string
  after: string
}

/** A call of the API. */
export interface Call {
  method: 'POST' | 'PATCH' | 'DELETE'
  path: string
  body?: unknown
  /** Whether the service is to refuse it when there is another of the name: another run may have created it since the plan. */
  onlyNew?: true
}

/** The id of something that may not be created yet. */
export class Ref {
  #id: string | null

  constructor(id: string | null) {
    this.#id = id
  }

  get isKnown(): boolean {
    return this.#id !== null
  }

  /** @throws Error when it has not been created: the stages make a change after those it depends on */
  get id(): string {
    if (this.#id === null) throw new Error('an id is needed before there is one')
    return this.#id
  }

  set(id: string): void {
    this.#id = id
  }
}

/** Changes of the same stage do not depend on each other. */
export const STAGES = ['deletions', 'clients', 'of clients', 'probes', 'maintenance', 'users', 'fewer users'] as const
export type Stage = (typeof STAGES)[number]

/** Kinds of which a client can have only so many. */
export type Limited = 'site' | 'probe' | 'channel' | 'maintenance'

/** One thing that differs between the files and the service. */
export interface Change {
  action: 'create' | 'update' | 'delete'
  stage: Stage
  /** `site “Shop” of “Acme”`. */
  what: string
  fields: readonly FieldChange[]
  /** What it creates, if that is limited. */
  creates?: Limited
  /** Probes that the service adds to the site that it creates. */
  autoProbes?: number
  /** Where a file asks for it; null for a deletion. */
  source: Source | null
  /** The calls, in order. A function, because ids of earlier stages are known only when the change is made. */
  calls: () => readonly Call[]
  /** Receives the id of what the first call created. */
  ref?: Ref
  /** Receives the answer to the first call. */
  answered?: (value: unknown) => void
  /** Detects changes made since the plan: `read` returns the current state in the form of `basis`, undefined when it is gone. */
  recheck?: { basis: unknown; read: () => Promise<unknown> }
}
