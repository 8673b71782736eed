import pg from 'pg'

declare module 'pg' {
  interface Query {
    /** Called with an error of the statement. */
    handleError(error: Error, connection: { sync: () => void }): void
  }
}

/** What pg understands besides what its types know. */
interface PortionedConfig extends pg.QueryConfig {
  /** Rows that are fetched at once; pg asks for the next ones until there are none. */
  rows: number
}

/**
 * A statement whose rows come in portions. Each is a round trip in which others have their turn: decoded as they came, the rows
 * of two large reports held up all requests for 113 ms at a time.
 */
class PortionedQuery extends pg.Query {
  /**
   * pg ends such a statement with a Sync after the last portion, and forgets it when there is none because of an error: the
   * server would wait for it, and the connection's next statement for the server.
   */
  override handleError(error: Error, connection: { sync: () => void }): void {
    connection.sync()
    super.handleError(error, connection)
  }
}

/** @throws the server's error, or the driver's */
export function queryInPortions(client: pg.ClientBase, config: PortionedConfig): Promise<pg.QueryResult> {
  return new Promise((resolve, reject) => {
    client.query(
      new PortionedQuery(config, (error, result) => {
        if (error === undefined || error === null) resolve(result)
        else reject(error)
      }),
    )
  })
}
