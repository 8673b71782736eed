/** What the thread is started with. */
export interface ConfinedSettings {
  /** Address of the module that exports `tasks`. */
  module: string
}

/** What a module must export as `tasks`: functions of one value that can cross threads to another. */
export type Tasks = Readonly<Record<string, (input: never) => unknown>>

export interface ConfinedOrder {
  id: number
  task: string
  input: unknown
}

export type ConfinedReply =
  | { kind: 'ready' }
  | { kind: 'done'; id: number; value: unknown }
  | { kind: 'failed'; id: number; message: string }
