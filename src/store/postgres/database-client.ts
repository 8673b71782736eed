import pg from 'pg'
import type { Endpoint } from './rotation.ts'

/** One connection of the driver, which knows where it leads and can be dropped. */
export class DatabaseClient extends pg.Client {
  readonly endpoint: Endpoint

  /** @throws Error when the address is none, or a certificate it names cannot be read */
  constructor(endpoint: Endpoint, config: pg.ClientConfig) {
    super({ ...config, connectionString: endpoint.url })
    this.endpoint = endpoint
    // Without a listener an error, as between two users of a pooled connection, would end the process.
    this.on('error', () => undefined)
  }

  /** The server's number of the session, or null before there is one. The driver's types do not have it. */
  get backend(): number | null {
    return 'processID' in this && typeof this.processID === 'number' ? this.processID : null
  }

  /** Ends it without a goodbye: a server that has vanished would never answer one. What is under way fails. */
  drop(): void {
    this.connection.stream.destroy()
  }
}
