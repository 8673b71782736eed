import type { Config } from '../config.ts'

/** Where the data lives, for people: never with the user and the password of the address. */
export const storeName = ({ databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>): string =>
  databaseUrl === null ? `DATA_DIR ${dataDir}` : postgresName(databaseUrl)

/** `PostgreSQL at host:port/database`, of an address that the engine has accepted. */
export function postgresName(url: string): string {
  const [address = ''] = url.replace(/^\w+:\/\//, '').split(/[?#]/)
  return `PostgreSQL at ${address.slice(address.lastIndexOf('@') + 1)}`
}
