import { isIP } from 'node:net'
import type { CheckFinding } from './check-finding.ts'

/** Labels under which countries let people register names, as `co` in `co.uk`. */
const SECOND_LEVELS: ReadonlySet<string> = new Set(
  'ac co com edu go gob gov gv ltd ne net nom or org plc sch'.split(' '),
)

/** Hosts that give every customer a name of theirs: two such names have nothing to do with each other. */
const SHARED_HOSTS: readonly string[] = (
  'a.run.app amazonaws.com appspot.com azurefd.net azurewebsites.net cloudfront.net cloudfunctions.net ' +
  'elasticbeanstalk.com firebaseapp.com fly.dev github.io herokuapp.com myshopify.com netlify.app onrender.com pages.dev ' +
  'run.app stape.io stape.net vercel.app web.app workers.dev'
).split(' ')

/**
 * The part of a host name that belongs to one owner, `example.co.uk` of `www.example.co.uk`, for names as sites have them:
 * the rules that matter, not the whole public suffix list. Null for addresses and names that have no such part.
 */
export function registrableDomain(host: string): string | null {
  const name = host.toLowerCase().replace(/\.$/, '')
  const labels = name.split('.')
  if (isIP(name) !== 0 || name.startsWith('[') || labels.length < 2) return null
  const shared = SHARED_HOSTS.find((suffix) => name === suffix || name.endsWith(`.${suffix}`))
  const suffixLabels = shared === undefined ? suffixLength(labels) : shared.split('.').length
  return labels.length > suffixLabels ? labels.slice(-suffixLabels - 1).join('.') : null
}

function suffixLength(labels: readonly string[]): number {
  const [second = '', top = ''] = labels.slice(-2)
  return top.length === 2 && SECOND_LEVELS.has(second) ? 2 : 1
}

export interface FirstParty {
  /** Null where the question makes no sense: an address, a name inside a network. */
  isFirstParty: boolean | null
  site: string | null
  tagServer: string | null
}

/** Browsers let a tag server set lasting cookies only when it shares the site's registrable domain. */
export function firstParty(siteUrl: string, tagServerUrl: string): FirstParty {
  const [siteHost, tagHost] = [new URL(siteUrl).hostname, new URL(tagServerUrl).hostname]
  const [site, tagServer] = [registrableDomain(siteHost), registrableDomain(tagHost)]
  if (siteHost === tagHost) return { isFirstParty: true, site, tagServer }
  const isFirstParty = site === null || tagServer === null ? null : site === tagServer
  return { isFirstParty, site, tagServer }
}

export function judgeFirstParty({ isFirstParty, site, tagServer }: FirstParty): CheckFinding[] {
  if (isFirstParty === null) return []
  if (isFirstParty) return [{ check: 'first_party', status: 'ok', message: 'the tag server is first-party' }]
  const message = `the tag server is at ${tagServer}, the site at ${site}: its cookies are third-party, which browsers block or shorten`
  return [{ check: 'first_party', status: 'warning', message }]
}
