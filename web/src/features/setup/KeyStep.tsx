import { Button } from '@mantine/core'
import { Check, Eye, EyeOff } from 'lucide-react'
import { type ReactNode, useId, useState } from 'react'
import type { SiteRecord } from '../../api/sites.ts'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { TextLink } from '../../ui/LinkButton.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { type IngestAddress, masked } from './ingest.ts'
import classes from './setup.module.css'

interface KeyStepProps {
  site: SiteRecord
  ingest: IngestAddress
}

/** Where the tag sends to, and with what it authenticates. */
export function KeyStep({ site, ingest }: KeyStepProps) {
  const isRevoked = site.key_revoked_at !== null
  return (
    <SetupStep
      number={2}
      title="Endpoint and key"
      state={isRevoked ? 'bad' : 'done'}
      word={
        isRevoked ? (
          <>
            key revoked <RelativeTime at={site.key_revoked_at} zone={site.timezone} />
          </>
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
        <dd>{site.ingest_key === null ? <KeyHidden /> : <Key ingestKey={site.ingest_key} />}</dd>
      </dl>
      {!ingest.isHttps && (
        <p className={classes.muted}>
          The tag takes addresses with <code>https://</code> only. Put a proxy with a certificate in front of Tagwarden
          and set <code>PUBLIC_URL</code> to its address.
        </p>
      )}
      {isRevoked && (
        <p className={classes.bad}>
          Tagwarden refuses this key permanently. For a new one, delete the site and create it again in{' '}
          <TextLink to="/sites/$siteId/edit" params={{ siteId: site.id }}>
            its settings
          </TextLink>
          .
        </p>
      )}
    </SetupStep>
  )
}

function Key({ ingestKey }: { ingestKey: string }) {
  const [isShown, setShown] = useState(false)
  const Icon = isShown ? EyeOff : Eye
  return (
    <>
      {isShown ? <Code>{ingestKey}</Code> : <Code label="hidden">{masked(ingestKey)}</Code>}
      <CopyButton text={ingestKey} what="ingest key" />
      <Button
        variant="subtle"
        color="gray"
        size="xs"
        leftSection={<Icon size={16} aria-hidden />}
        onClick={() => setShown(!isShown)}
      >
        {isShown ? 'Hide' : 'Show'}
      </Button>
    </>
  )
}

const KeyHidden = () => <span className={classes.muted}>Shown to admins only</span>

function Code({ children, label }: { children: ReactNode; label?: string }) {
  return (
    <code className={classes.code}>
      {label === undefined ? (
        children
      ) : (
        <>
          <span aria-hidden="true">{children}</span>
          <span className="sr-only">{label}</span>
        </>
      )}
    </code>
  )
}

/** `done` is green, `bad` is in the way, `waiting` listens. */
type StepState = 'open' | 'waiting' | 'done' | 'bad'

interface SetupStepProps {
  number: number
  title: string
  state: StepState
  /** The state in a few words: "first event 3 min ago". */
  word: ReactNode
  children: ReactNode
}

/** One of the numbered steps, with how far it has come. */
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
