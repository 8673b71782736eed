import { SERVICES, type Service } from './services.ts'

/**
 * Where an address leads. One that a service is named for, with what only it may know, is written `pagerduty+https://host/path#key`:
 * so an address is one text wherever it is kept, compared or handed on. Fragments never leave this program.
 */
export interface Destination {
  /** Null: whichever takes that address. */
  service: Service | null
  url: string
  /** A key, or what signs requests; null where there is none. */
  credential: string | null
}

export function destinationOf(address: string): Destination {
  const service = SERVICES.find((known) => address.startsWith(`${known}+`))
  if (service === undefined) return { service: null, url: address, credential: null }
  const [url = '', credential] = address.slice(service.length + 1).split('#')
  return { service, url, credential: credential === undefined ? null : decodeURIComponent(credential) }
}

export const addressFor = (service: Service, url: string, credential: string | null): string =>
  `${service}+${url.split('#')[0]}${credential === null ? '' : `#${encodeURIComponent(credential)}`}`
