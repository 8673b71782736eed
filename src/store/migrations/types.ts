/** What differs between the engines in a table's definition. The rest of a migration is one text for both. */
export interface ColumnTypes {
  /** Integers up to 2^53. */
  integer: string
  /**
   * Counters that senders add to, exact up to 2^53 as in JSON. A sender may report 2^53 at a time, so a sum past 64 bits has to
   * stay a number instead of failing the fold for ever.
   */
  counter: string
  /** A JSON value. */
  json: string
  /** A primary key that is assigned in ascending order and never reused. */
  identity: string
  /** Follows the definition of a table that is read only by its primary key. */
  clustered: string
  /** Precedes `table` where the rows are worthless after a crash. */
  ephemeral: string
  /** Statements after which new values of a column are not compressed, where the engine would do that. */
  uncompressed: (table: string, column: string) => readonly string[]
}

/** One step of the schema: forward only, in its own transaction, frozen once released. */
export interface Migration {
  /** `NNNN-what-it-does`; the number orders the steps. */
  name: string
  statements: (types: ColumnTypes) => readonly string[]
}
