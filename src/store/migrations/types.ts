/** What differs between the engines in a table's definition; the rest of a migration is one text for both. */
export interface ColumnTypes {
  /** Whole numbers up to 2^53. */
  integer: string
  /**
   * Counters that senders add to. They may report 2^53 at a time, and a sum past 64 bits has to stay a number instead of
   * failing the fold for ever. Exact up to 2^53, as in JSON.
   */
  counter: string
  /** A primary key that counts up by itself and is never given out twice. */
  identity: string
  /** Stands behind the definition of a table that is read by its primary key only. */
  clustered: string
  /** Stands before `table` where the rows are worthless after a crash. */
  ephemeral: string
}

/** One step of the schema: frozen once released, forward only, each in a transaction of its own. */
export interface Migration {
  /** `NNNN-what-it-does`; the number orders the steps. */
  name: string
  statements: (types: ColumnTypes) => readonly string[]
}
