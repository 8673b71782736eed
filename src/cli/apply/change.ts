import type { Source } from './wanted.ts'

/** A field that is to change, for people. */
export interface FieldChange {
  name: string
  before: string
  after: string
}

/** A call to the interface. */
export interface Call {
  method: 'POST' | 'PATCH' | 'DELETE'
  path: string
  body?: unknown
}

/** The id of something that may have to be created first. */
export class Ref {
  #id: string | null

  constructor(id: string | null) {
    this.#id = id
  }

  get isKnown(): boolean {
    return this.#id !== null
  }

  /** @throws Error when it has not been created: a change comes after those that it needs */
  get id(): string {
    if (this.#id === null) throw new Error('an id is asked for before there is one')
    return this.#id
  }

  set(id: string): void {
    this.#id = id
  }
}

/** Changes of a stage need nothing of each other. */
export const STAGES = ['deletions', 'clients', 'of clients', 'probes', 'maintenance', 'users', 'fewer users'] as const
export type Stage = (typeof STAGES)[number]

/** One thing that differs between the files and the service. */
export interface Change {
  action: 'create' | 'update' | 'delete'
  stage: Stage
  /** `site “Shop” of “Acme”`. */
  what: string
  fields: readonly FieldChange[]
  /** Where it is asked for; null of a deletion. */
  source: Source | null
  /** The calls, one after the other; made when their time has come, as ids are known then. */
  calls: () => readonly Call[]
  /** Takes the id of what the first call created. */
  ref?: Ref
  /** Takes what the first call was answered with. */
  answered?: (value: unknown) => void
  /** Reads again what the plan was made by, as `basis` has it; undefined: it is gone. */
  recheck?: { basis: unknown; read: () => Promise<unknown> }
}
