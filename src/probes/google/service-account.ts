import { DAY, SECOND } from '../../lib/index.ts'
import type { GoogleCredentials, ProbeSettings } from '../settings.ts'
import { AccessTokens } from './access-tokens.ts'
import { ContainerDirectory } from './container-directory.ts'
import { GoogleFailure } from './failure.ts'
import { QuotaQueue, type QuotaWindow } from './quota.ts'

/**
 * Of one Google Cloud project: 10,000 requests a day and 0.25 a second, which Google counts over 100 s by its documentation
 * and over a minute by its refusals ("Queries per minute", 15).
 */
const TAG_MANAGER_QUOTA: readonly QuotaWindow[] = [
  { limit: 15, windowMs: 60 * SECOND },
  { limit: 25, windowMs: 100 * SECOND },
  { limit: 10_000, windowMs: DAY },
]

/** What is kept of a service account while the process lives; all probes share it. */
export interface ServiceAccount {
  email: string
  tokens: AccessTokens
  tagManagerQueue: QuotaQueue
  containers: ContainerDirectory
}

const accounts = new WeakMap<GoogleCredentials, ServiceAccount>()

/** @throws GoogleFailure `no_credentials` when none is set up */
export function serviceAccountOf({ googleCredentials }: ProbeSettings): ServiceAccount {
  if (googleCredentials === null) {
    throw new GoogleFailure(
      'no_credentials',
      'No Google service account is set up: GOOGLE_CREDENTIALS_FILE has to name the file of its JSON key',
    )
  }
  let account = accounts.get(googleCredentials)
  if (account === undefined) {
    account = {
      email: googleCredentials.client_email,
      tokens: new AccessTokens(googleCredentials),
      tagManagerQueue: new QuotaQueue(TAG_MANAGER_QUOTA),
      containers: new ContainerDirectory(),
    }
    accounts.set(googleCredentials, account)
  }
  return account
}
