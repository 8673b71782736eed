import { Check } from 'lucide-react'
import { type ReactNode, useId } from 'react'
import type { SiteRecord } from '../../api/sites.ts'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { TextLink } from '../../ui/LinkButton.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { Code, Secret } from '../../ui/Secret.tsx'
import type { IngestAddress } from './ingest.ts'
import classes from './setup.module.css'

interface KeyStepProps {
  site: SiteRecord
  ingest: IngestAddress
}

/** The endpoint and the key of the tag. */
export function KeyStep({ site, ingest }: KeyStepProps) {
  const isRevoked = site.key_revoked_at !== null
  // A site that has sent events uses another sender than our tag, for which http may do.
  const lacksHttps = !ingest.isHttps && site.last_event_at === null
  return (
    <SetupStep
      number={2}
      title="Endpoint and key"
      state={isRevoked ? 'bad' : lacksHttps ? 'open' : 'done'}
      word={
        isRevoked ? (
          <>
            no valid key since <RelativeTime at={site.key_revoked_at} zone={site.timezone} />
          </>
        ) : lacksHttps ? (
          'needs https'
        ) : (
          'ready'
        )
      }
    >
      <dl className={classes.facts}>
        <dt>Endpoint</dt>
        <dd>
          <Code>{ingest.endpoint}</Code>
          <CopyButton text={ingest.endpoint} what="endpoint" />
        </dd>
        <dt>Ingest key</dt>
        <dd>{site.ingest_key === null ? <KeyHidden /> : <Secret secret={site.ingest_key} what="ingest key" />}</dd>
      </dl>
      {!ingest.isHttps && (
        <p className={classes.muted}>
          {!lacksHttps && 'Events arrive, which is enough for a sender of your own. '}
          The tag accepts addresses with <code>https://</code> only: for it, put a proxy with a certificate in front of
          Tagwarden and set <code>PUBLIC_URL</code> to its address.
        </p>
      )}
      <p className={isRevoked ? classes.bad : classes.muted}>
        {isRevoked && 'Tagwarden refuses this key permanently: add a new one. '}
        <TextLink to="/sites/$siteId/keys" params={{ siteId: site.id }}>
          Keys of this site
        </TextLink>{' '}
        shows all of them and when each was last used, and replaces one without a gap.
      </p>
    </SetupStep>
  )
}

const KeyHidden = () => <span className={classes.muted}>Shown to editors only</span>

/** `done` is green, `bad` blocks the setup, `waiting` waits for events. */
type StepState = 'open' | 'waiting' | 'done' | 'bad'

interface SetupStepProps {
  number: number
  title: string
  state: StepState
  /** The state in a few words: "first event 3 min ago". */
  word: ReactNode
  children: ReactNode
}

/** One of the numbered steps, with its state. */
export function SetupStep({ number, title, state, word, children }: SetupStepProps) {
  const id = useId()
  return (
    <li className={classes.step} data-state={state}>
      <section aria-labelledby={id}>
        <header className={classes.stepHead}>
          <span className={classes.number} aria-hidden="true">
            {state === 'done' ? <Check size={16} strokeWidth={2.5} /> : number}
          </span>
          <h2 id={id}>{title}</h2>
          <span className={classes.word} role="status">
            {word}
          </span>
        </header>
        <div className={classes.stepBody}>{children}</div>
      </section>
    </li>
  )
}
