import { Drawer, SegmentedControl } from '@mantine/core'
import { useState } from 'react'
import type { ResultRecord } from '../../api/probes.ts'
import { exact, whole } from '../../lib/words.ts'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { StatusBadge } from '../../ui/status/StatusBadge.tsx'
import { Details } from './Details.tsx'
import { sentence } from './list.ts'
import classes from './probe.module.css'

interface Props {
  /** Undefined: not among those that are loaded. */
  result: ResultRecord | undefined
  isOpen: boolean
  zone: string | undefined
  onClose: () => void
}

/** One result with what it was judged by. */
export function ResultDrawer({ result, isOpen, zone, onClose }: Props) {
  return (
    <Drawer
      opened={isOpen}
      onClose={onClose}
      position="right"
      size="xl"
      title="Result"
      transitionProps={{ duration: 0 }}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {result === undefined ? (
        <p>This result is older than those that are shown: load older ones, or it has been deleted by now.</p>
      ) : (
        <Content result={result} zone={zone} />
      )}
    </Drawer>
  )
}

const VIEWS = [
  { value: 'words', label: 'Readable' },
  { value: 'json', label: 'JSON' },
]

function Content({ result, zone }: { result: ResultRecord; zone: string | undefined }) {
  const [view, setView] = useState('words')
  const json = JSON.stringify(result.details, null, 2)
  return (
    <div className={classes.result}>
      <p className={classes.cardHead}>
        <StatusBadge status={result.status} />
        <span className={classes.muted}>{exact(Date.parse(result.executed_at), zone)}</span>
      </p>
      <p className={classes.message}>{sentence(result.message)}</p>
      <p className={classes.muted}>{circumstances(result)}</p>
      <div className={classes.views}>
        <h3>What it was judged by</h3>
        <SegmentedControl
          aria-label="How the details are shown"
          data={VIEWS}
          value={view}
          onChange={setView}
          size="xs"
          transitionDuration={0}
        />
        <CopyButton text={json} what="details as JSON" />
      </div>
      {view === 'json' ? <pre className={classes.json}>{json}</pre> : <Details value={result.details} zone={zone} />}
    </div>
  )
}

function circumstances({ response_time_ms, attempts, maintenance_id }: ResultRecord): string {
  return [
    response_time_ms === null ? 'nothing was asked over the network' : `answered in ${whole(response_time_ms)} ms`,
    attempts > 1 ? 'tried twice, as the network failed at first' : null,
    maintenance_id === null ? null : 'during maintenance: it opens no alert',
  ]
    .filter((part) => part !== null)
    .join(' · ')
}
