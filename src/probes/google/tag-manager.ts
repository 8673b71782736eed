import { HOUR, SECOND } from '../../lib/index.ts'
import type { SiteRow } from '../../store/index.ts'
import type { Caller } from './access-tokens.ts'
import { askGoogle } from './ask.ts'
import { GoogleFailure, type JsonRecord, recordsOf, textOf } from './failure.ts'
import type { ServiceAccount } from './service-account.ts'

const SCOPE = 'https://www.googleapis.com/auth/tagmanager.readonly'

/** Without templates and parameters, which make a version several MB long. */
const VERSION_FIELDS = 'containerVersionId,name,fingerprint,tag(tagId,name,paused)'

/** How long to pause until Google's windows have moved on, ms: the one of 100 s, and that of a day, whose end Google does not report. */
const QUOTA_PAUSE_MS = 100 * SECOND
const DAILY_QUOTA_PAUSE_MS = HOUR

/** A run, and the client in whose turns its requests are sent. */
interface TagManagerCaller extends Caller {
  site: Pick<SiteRow, 'client_id'>
}

export interface LiveVersion {
  version: string
  /** Null when it was published without a name. */
  name: string | null
  fingerprint: string | null
  tags: readonly { id: string; name: string; isPaused: boolean }[]
}

/**
 * Returns the published version of a container such as `GTM-ABC1234`; null when it has none.
 *
 * @param apiUrl from the settings, e.g. `https://tagmanager.googleapis.com`
 * @throws GoogleFailure; `not_found` when the service account does not see the container
 */
export async function liveVersion(
  account: ServiceAccount,
  apiUrl: string,
  publicId: string,
  caller: TagManagerCaller,
): Promise<LiveVersion | null> {
  const ask = (path: string) => askInTurn(account, `${apiUrl}/tagmanager/v2${path}`, caller)
  const ids = await account.containers.find(publicId, ask, caller)
  if (ids === undefined) throw notSeen(account, publicId)
  const { accountId, containerId } = ids
  const path = `/accounts/${encodeURIComponent(accountId)}/containers/${encodeURIComponent(containerId)}/versions:live`
  const version = await ask(`${path}?fields=${encodeURIComponent(VERSION_FIELDS)}`).catch((thrown: unknown) => {
    if (thrown instanceof GoogleFailure && thrown.reason === 'not_found') return null
    throw thrown
  })
  if (version !== null) return readVersion(version)
  // Tag Manager answers 404 both to "nothing is published" and to "you may not see it".
  if (await account.containers.confirm(publicId, ask, caller)) return null
  throw notSeen(account, publicId)
}

async function askInTurn(account: ServiceAccount, url: string, caller: TagManagerCaller): Promise<JsonRecord> {
  await account.tagManagerQueue.turn(caller.site.client_id, caller.signal, caller.timeoutMs)
  try {
    const { json } = await askGoogle(account, { url, scope: SCOPE, api: 'Tag Manager' }, caller)
    return json
  } catch (thrown) {
    if (thrown instanceof GoogleFailure && thrown.reason === 'quota') {
      const isDaily = thrown.facts.codes?.includes('dailyLimitExceeded') === true
      account.tagManagerQueue.block(isDaily ? DAILY_QUOTA_PAUSE_MS : QUOTA_PAUSE_MS)
    }
    throw thrown
  }
}

function readVersion({ containerVersionId, name, fingerprint, tag }: JsonRecord): LiveVersion {
  const version = textOf(containerVersionId)
  if (version === null) throw new GoogleFailure('bad_answer', 'The Tag Manager API answered a version without a number')
  const tags = recordsOf(tag).map((one) => ({
    id: textOf(one.tagId) ?? '',
    name: textOf(one.name) ?? '',
    isPaused: one.paused === true,
  }))
  return { version, name: textOf(name), fingerprint: textOf(fingerprint), tags }
}

const notSeen = ({ email }: ServiceAccount, publicId: string): GoogleFailure =>
  new GoogleFailure(
    'not_found',
    `${email} sees no container ${publicId}: add the account in Tag Manager's user management, with the permission Read`,
  )
