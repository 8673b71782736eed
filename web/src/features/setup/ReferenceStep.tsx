import { Button, FileButton, Group, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Upload } from 'lucide-react'
import { useRef, useState } from 'react'
import { ApiError } from '../../api/client.ts'
import {
  type ReferenceRecord,
  referencesQuery,
  useDeleteSource,
  useUploadReferences,
} from '../../api/reconciliation.ts'
import { useSession } from '../../api/session.ts'
import type { SiteRecord } from '../../api/sites.ts'
import { counted, whole } from '../../lib/words.ts'
import { Confirm } from '../../ui/Confirm.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { TextLink } from '../../ui/LinkButton.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { addedWords, EXAMPLE, FILE_MAX, referenceLine } from './ingest.ts'
import { SetupStep } from './KeyStep.tsx'
import classes from './setup.module.css'

/** The shop's own counts, to compare with ours: uploaded as a file, or sent by a job of the shop. */
export function ReferenceStep({ site, base }: { site: SiteRecord; base: string }) {
  const { mayChange } = useSession()
  const { data: references = [] } = useQuery(referencesQuery(site.id))
  return (
    <SetupStep
      number={6}
      title="Compare with the shop"
      state={references.length === 0 ? 'open' : 'done'}
      word={
        references.length === 0 ? 'optional' : counted(new Set(references.map(({ source }) => source)).size, 'source')
      }
    >
      <p>
        Send what the shop itself counted, such as its orders by the hour. The page of the site then shows which share
        of them arrives here, and the probe “Comparison with the shop” warns when it falls. Hours are in UTC.
      </p>
      {references.length > 0 && <Sources site={site} references={references} mayChange={mayChange} />}
      {mayChange ? (
        <HowToSend siteId={site.id} base={base} />
      ) : (
        <p className={classes.muted}>An editor of the client can send counts.</p>
      )}
    </SetupStep>
  )
}

function HowToSend({ siteId, base }: { siteId: string; base: string }) {
  const line = referenceLine(base, siteId)
  return (
    <>
      <UploadFile siteId={siteId} />
      <p className={classes.muted}>
        What Google Analytics counted is fetched by a probe:{' '}
        <TextLink to="/probes/new" search={{ site: siteId, type: 'ga4_counts' } as object}>
          add “Counts from GA4”
        </TextLink>
      </p>
      <p className={classes.muted}>A file has a header and a line for each hour; 0 is not the same as no line:</p>
      <div className={classes.terminal}>
        <pre className={classes.pre}>{EXAMPLE}</pre>
        <CopyButton text={EXAMPLE} what="example" />
      </div>
      <p className={classes.muted}>A job of the shop sends it every night; an hour that is sent again is replaced:</p>
      <div className={classes.terminal}>
        <pre className={classes.pre}>{line}</pre>
        <CopyButton text={line} what="line for a job" />
      </div>
    </>
  )
}

function UploadFile({ siteId }: { siteId: string }) {
  const upload = useUploadReferences(siteId)
  const [source, setSource] = useState('')
  const [isTooLarge, setTooLarge] = useState(false)
  const forget = useRef<() => void>(null)
  const send = (file: File | null) => {
    if (file === null) return
    upload.reset()
    setTooLarge(file.size > FILE_MAX)
    if (file.size <= FILE_MAX) upload.mutate({ file, source: source.trim() })
    // Forget the chosen file, because choosing it again after a correction would fire no change event.
    forget.current?.()
  }
  return (
    <>
      <Group gap="sm" align="end">
        <TextInput
          label="Source"
          description="Where the file has no such column"
          placeholder="shop"
          maxLength={64}
          value={source}
          onChange={(event) => setSource(event.currentTarget.value)}
        />
        <FileButton accept="text/csv,.csv" resetRef={forget} onChange={send}>
          {(props) => (
            <Button
              variant="default"
              leftSection={<Upload size={16} aria-hidden />}
              loading={upload.isPending}
              {...props}
            >
              Upload a CSV file …
            </Button>
          )}
        </FileButton>
      </Group>
      {isTooLarge && (
        <p className={classes.bad} role="alert">
          The file is over 1 MB: send at most 5,000 lines at a time.
        </p>
      )}
      {upload.data !== undefined && <p role="status">Written: {addedWords(upload.data)}.</p>}
      {upload.error !== null && <Faults error={upload.error} />}
    </>
  )
}

/** What is wrong with a file, line by line. */
function Faults({ error }: { error: Error }) {
  const faults = error instanceof ApiError ? error.details : []
  return (
    <div className={classes.bad} role="alert">
      <p>Nothing was written{faults.length === 0 ? `: ${error.message}` : '. Correct the file and upload it again:'}</p>
      {faults.length > 0 && (
        <ul>
          {faults.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              {path} {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

interface SourcesProps {
  site: SiteRecord
  references: readonly ReferenceRecord[]
  mayChange: boolean
}

function Sources({ site, references, mayChange }: SourcesProps) {
  const remove = useDeleteSource(site.id)
  const [leaving, setLeaving] = useState<string | null>(null)
  return (
    <>
      <ul className={classes.checks} aria-label="Reference counts">
        {Array.from(
          Map.groupBy(references, ({ source }) => source),
          ([source, events]) => (
            <li key={source}>
              <div className={classes.reference}>
                <b>{source}</b>
                {events.map(({ event, hours, total, last_hour }) => (
                  <p key={event}>
                    {whole(total)} {event} in {counted(hours, 'hour')}, the last{' '}
                    <RelativeTime at={last_hour} zone={site.timezone} />
                  </p>
                ))}
              </div>
              {mayChange && (
                <Button
                  size="compact-sm"
                  variant="subtle"
                  aria-label={`Delete ${source}`}
                  onClick={() => setLeaving(source)}
                >
                  Delete
                </Button>
              )}
            </li>
          ),
        )}
      </ul>
      <Confirm
        opened={leaving !== null}
        onClose={() => setLeaving(null)}
        onConfirm={() => remove.mutateAsync(leaving ?? '')}
        title={`Delete the counts of ${leaving ?? ''}`}
        action="Delete"
      >
        All that {leaving} counted is deleted. A probe that compares with it can no longer run.
      </Confirm>
    </>
  )
}
