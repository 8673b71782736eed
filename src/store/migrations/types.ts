/** What differs between the engines in a table's definition; the rest of a migration is one text for both. */
export interface ColumnTypes {
  /** Whole numbers up to 2^53. */
  integer: string
  /** A primary key that counts up by itself and is never given out twice. */
  identity: string
  /** Stands behind the definition of a table that is read by its primary key only. */
  clustered: string
}

/** One step of the schema: frozen once released, forward only, each in a transaction of its own. */
export interface Migration {
  /** `NNNN-what-it-does`; the number orders the steps. */
  name: string
  statements: (types: ColumnTypes) => readonly string[]
}
