import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { recentQuery } from '../../api/analytics.ts'
import type { SiteRecord } from '../../api/site.ts'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { containerOf } from './checks.ts'
import { curlLine, type IngestAddress, masked, SAMPLE_CONTAINER } from './ingest.ts'
import { SetupStep } from './SetupStep.tsx'
import classes from './setup.module.css'

interface Props {
  site: SiteRecord
  ingest: IngestAddress
}

/** One event from the command line: whether the way to Tagwarden is open, before Tag Manager has a part in it. */
export function TryStep({ site, ingest }: Props) {
  const { data } = useQuery(recentQuery(site.id))
  const [openedAt] = useState(() => Date.now())
  const sample = data?.accepted.find((payload) => containerOf(payload) === SAMPLE_CONTAINER)
  const key = site.ingest_key
  return (
    <SetupStep
      number={3}
      title="Try it"
      state={sample === undefined ? 'open' : 'done'}
      word={
        sample === undefined ? (
          'optional'
        ) : (
          <>
            sample arrived <RelativeTime at={sample.accepted_at} zone={site.timezone} />
          </>
        )
      }
    >
      <p>
        Sends one event called <code>sample</code>, from any machine. The answer is <code>{'{"status":"ok"}'}</code>,
        and the next step turns green.
      </p>
      <div className={classes.terminal}>
        <pre className={classes.pre}>{curlLine(ingest, key === null ? '$INGEST_KEY' : masked(key), openedAt)}</pre>
        <CopyButton text={curlLine(ingest, key ?? '$INGEST_KEY', openedAt)} what="curl line" />
      </div>
      <p className={classes.muted}>
        {key === null
          ? "Replace $INGEST_KEY with the site's key, which an admin can see."
          : 'The key is masked here; the button copies it in full.'}
      </p>
    </SetupStep>
  )
}
