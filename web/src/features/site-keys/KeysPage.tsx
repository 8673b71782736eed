import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { AboutClient, useSession } from '../../api/session.ts'
import { MOST_VALID_KEYS, type SiteKeyRecord, siteKeysQuery } from '../../api/site-keys.ts'
import { type SiteRecord, siteQuery } from '../../api/sites.ts'
import { useNow } from '../../lib/external.ts'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { PendingPage } from '../../ui/PendingPage.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { Secret } from '../../ui/Secret.tsx'
import { StatusBadge } from '../../ui/status/StatusMark.tsx'
import {
  AddKeyDialog,
  ChangeKeyDialog,
  isAccepted,
  isInUse,
  keyStatus,
  RevokeKey,
  RotateKeyDialog,
  warningOf,
} from './KeyDialogs.tsx'
import classes from './keys.module.css'

/** The ingest keys of a site: until when each is valid, and whether it is still used. */
export function KeysPage() {
  const { siteId = '' } = useParams({ strict: false })
  const site = useQuery(siteQuery(siteId))
  const keys = useQuery(siteKeysQuery(siteId))
  if (site.data !== undefined && keys.data !== undefined) {
    return (
      <AboutClient value={site.data.client_id}>
        <Loaded site={site.data} keys={keys.data} />
      </AboutClient>
    )
  }
  return (
    <PendingPage
      title="Ingest keys"
      parents={[{ label: 'Overview', to: '/overview' }]}
      error={site.error ?? keys.error}
      onRetry={() => void Promise.all([site.refetch(), keys.refetch()])}
      loading="Loading the keys"
    >
      <Skeleton height={320} />
    </PendingPage>
  )
}

function Loaded({ site, keys }: { site: SiteRecord; keys: readonly SiteKeyRecord[] }) {
  const { mayChange } = useSession()
  const [isAdding, setAdding] = useState(false)
  const hasRoom = keys.filter(isAccepted).length < MOST_VALID_KEYS
  const warning = warningOf(keys)
  return (
    <>
      <PageHeader
        title="Ingest keys"
        parents={[
          { label: 'Overview', to: '/overview' },
          { label: site.name, to: `/sites/${site.id}` },
        ]}
        actions={
          mayChange && (
            <Button leftSection={<Plus size={16} aria-hidden />} disabled={!hasRoom} onClick={() => setAdding(true)}>
              Add a key
            </Button>
          )
        }
      >
        What the senders of {site.name} authenticate with. Up to {MOST_VALID_KEYS} are valid at the same time: one for
        each sender, or an old one and the one that replaces it.
      </PageHeader>
      {warning !== null && (
        <p className={classes.warning} role="alert">
          {warning}
        </p>
      )}
      {mayChange && !hasRoom && (
        <p className={classes.muted}>{MOST_VALID_KEYS} keys are valid. Revoke one to add or replace another.</p>
      )}
      <ul className={classes.keys} aria-label="Ingest keys">
        {keys.map((key) => (
          <Key key={key.id} site={site} siteKey={key} mayChange={mayChange} hasRoom={hasRoom} />
        ))}
      </ul>
      {isAdding && <AddKeyDialog site={site} onClose={() => setAdding(false)} />}
    </>
  )
}

interface KeyProps {
  site: SiteRecord
  siteKey: SiteKeyRecord
  mayChange: boolean
  hasRoom: boolean
}

type Dialog = 'rotate' | 'change' | 'revoke'

function Key({ site, siteKey, mayChange, hasRoom }: KeyProps) {
  const [dialog, setDialog] = useState<Dialog | null>(null)
  const now = useNow()
  const { name, state, ingest_key } = siteKey
  const dialogProps = { site, siteKey, onClose: () => setDialog(null) }
  return (
    <li className={classes.key} data-ended={!isAccepted(siteKey)}>
      <div className={classes.head}>
        <h2>{name}</h2>
        <StatusBadge status={keyStatus(siteKey, now)}>{state}</StatusBadge>
        <Facts siteKey={siteKey} zone={site.timezone} />
      </div>
      {isAccepted(siteKey) && ingest_key !== null && (
        <div className={classes.secret}>
          <Secret secret={ingest_key} what={`key ${name}`} />
        </div>
      )}
      <Advice siteKey={siteKey} now={now} />
      {mayChange && isAccepted(siteKey) && (
        <div className={classes.acts}>
          {state === 'valid' ? (
            <Button
              size="compact-sm"
              variant="default"
              disabled={!hasRoom}
              aria-label={`Rotate ${name}`}
              onClick={() => setDialog('rotate')}
            >
              Rotate …
            </Button>
          ) : (
            <Button
              size="compact-sm"
              variant="default"
              aria-label={`Change the end of ${name}`}
              onClick={() => setDialog('change')}
            >
              Change its end …
            </Button>
          )}
          <Button size="compact-sm" variant="default" aria-label={`Revoke ${name}`} onClick={() => setDialog('revoke')}>
            Revoke …
          </Button>
        </div>
      )}
      {dialog === 'rotate' && <RotateKeyDialog {...dialogProps} />}
      {dialog === 'change' && <ChangeKeyDialog {...dialogProps} />}
      <RevokeKey {...dialogProps} opened={dialog === 'revoke'} />
    </li>
  )
}

function Facts({ siteKey, zone }: { siteKey: SiteKeyRecord; zone: string }) {
  const { state, created_at, expires_at, revoked_at, last_used_at } = siteKey
  return (
    <dl className={classes.facts}>
      <dt>Last used</dt>
      <dd>
        <RelativeTime at={last_used_at} zone={zone} />
      </dd>
      <dt>Created</dt>
      <dd>
        <RelativeTime at={created_at} zone={zone} />
      </dd>
      {(state === 'expiring' || state === 'expired') && (
        <>
          <dt>{state === 'expiring' ? 'Ends' : 'Ended'}</dt>
          <dd>
            <RelativeTime at={expires_at} zone={zone} />
          </dd>
        </>
      )}
      {state === 'revoked' && (
        <>
          <dt>Revoked</dt>
          <dd>
            <RelativeTime at={revoked_at} zone={zone} />
          </dd>
        </>
      )}
    </dl>
  )
}

/** What to do about a key that is still used but expires or is no longer valid. */
function Advice({ siteKey, now }: { siteKey: SiteKeyRecord; now: number }) {
  if (siteKey.state === 'valid' || !isInUse(siteKey, now)) return null
  return (
    <p className={classes.advice}>
      {siteKey.state === 'expiring'
        ? 'A sender still uses it: give it the new key before this one ends.'
        : 'A sender still uses it, and all it sends is refused: give it a valid key.'}
    </p>
  )
}
