import { Button, Group } from '@mantine/core'
import { X } from 'lucide-react'
import { useDeleteAnnotation } from '../../api/annotations.ts'
import { useSession } from '../../api/session.ts'
import { notifyOf } from '../../lib/refusal.ts'
import { personName } from '../../lib/words.ts'
import { useFocusKept } from '../../ui/Dialog.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { annotate } from './AnnotateDialog.tsx'
import type { SiteChange } from './changes.ts'
import { Note, Panel } from './Panel.tsx'
import classes from './site.module.css'
import { useSite } from './site-scope.ts'

/** Maximum number of rows: more are too many to read beside a chart. */
const ROWS = 12
/** The API returns no more versions or annotations of a window. */
const MOST_READ = 200

/** What changed in the window: published versions and annotations. */
export function ChangesPanel() {
  const { changes, site } = useSite()
  const { mayChange } = useSession()
  useFocusKept(changes.length)
  const latest = changes.slice(-ROWS).reverse()
  return (
    <Panel
      title="What changed"
      unit={
        changes.length > ROWS
          ? `the latest ${ROWS} of ${changes.length}${changes.length < MOST_READ ? '' : ' or more'}`
          : undefined
      }
      tools={
        mayChange && (
          <Button size="compact-sm" variant="default" aria-keyshortcuts="n" onClick={annotate}>
            Annotate
          </Button>
        )
      }
    >
      {latest.length === 0 ? (
        <Note height={80}>No version was published in this period, and no one added an annotation.</Note>
      ) : (
        <ul className={classes.containers} aria-label="What changed">
          {latest.map((change) => (
            <Change key={change.annotation?.id ?? `${change.at} ${change.what}`} change={change} zone={site.timezone} />
          ))}
        </ul>
      )}
    </Panel>
  )
}

function Change({ change: { at, what, annotation }, zone }: { change: SiteChange; zone: string }) {
  const { mayChange } = useSession()
  const remove = useDeleteAnnotation()
  return (
    <li>
      <span>
        {annotation?.url == null ? (
          what
        ) : (
          <a href={annotation.url} rel="noreferrer" target="_blank">
            {what}
          </a>
        )}
      </span>
      <Group gap={4} wrap="nowrap" className={classes.muted}>
        {annotation !== undefined && `${personName(annotation.created_by)}, `}
        <RelativeTime at={new Date(at).toISOString()} zone={zone} />
        {annotation !== undefined && mayChange && (
          <Button
            size="compact-sm"
            variant="subtle"
            color="gray"
            aria-label={`Delete ${what}`}
            loading={remove.isPending}
            onClick={() =>
              remove.mutate(annotation.id, {
                onError: notifyOf('Not deleted'),
              })
            }
          >
            <X size={14} aria-hidden />
          </Button>
        )}
      </Group>
    </li>
  )
}
