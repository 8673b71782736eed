import pg from 'pg'
import { asError, StartupError } from '../../lib/index.ts'

const PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s
const HOST = /^(\[[0-9a-f:.]+\]|[^:[\]]*)(:\d{1,5})?$/i

/**
 * Takes `postgres://user:password@first:5432,second:5432/database` apart into one address for each host. Several hosts, of
 * which one at a time takes writes, are written as libpq does
 * (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-MULTIPLE-HOSTS); the driver knows only one.
 *
 * @param name the setting the address comes from
 * @throws StartupError, which repeats nothing of the address: what looks like a host may be part of a password
 */
export function hostUrls(name: string, url: string): string[] {
  const [, head, hosts, tail] = PARTS.exec(url) ?? []
  if (head === undefined || hosts === undefined || tail === undefined) {
    throw invalid(name, 'an address like postgres://user:password@host:5432/database is allowed')
  }
  return hosts.split(',').map((host, index, { length }) => {
    if (!HOST.test(host) || (host === '' && length > 1)) {
      throw invalid(
        name,
        `${length > 1 ? `number ${index + 1} of its hosts` : 'its host'} is not a host or host:port ` +
          '(in user and password @ : / ? # are written as %40 %3A %2F %3F %23)',
      )
    }
    return usable(name, `${head}${host}${tail}`)
  })
}

function usable(name: string, url: string): string {
  try {
    // Does not connect, but looks at everything: escapes, port, certificates that the address names.
    new pg.Client({ connectionString: url })
    return url
  } catch (thrown) {
    throw invalid(name, asError(thrown).message)
  }
}

const invalid = (name: string, why: string): StartupError => new StartupError(`${name} is not valid: ${why}`)
