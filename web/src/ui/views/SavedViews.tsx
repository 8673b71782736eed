import { CloseButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useRouterState } from '@tanstack/react-router'
import { Suspense, useRef } from 'react'
import { useSession } from '../../api/session.ts'
import { type SavedViewRecord, useDeleteView, viewsQuery } from '../../api/views.ts'
import { lazyOr } from '../../lib/lazy-or.ts'
import { notifyOf } from '../../lib/refusal.ts'
import classes from './SavedViews.module.css'

/** Not in the first load; the page works without it. */
const SaveView = lazyOr(
  async () => (await import('./SaveView.tsx')).SaveView,
  () => null,
)

/** The saved views of this page as chips, and a button to save the current one. */
export function SavedViews() {
  const { mayChange } = useSession()
  const nav = useRef<HTMLElement>(null)
  const { data: views = [] } = useQuery(viewsQuery)
  const { pathname, searchStr } = useRouterState({ select: ({ location }) => location })
  const here = `${pathname}${searchStr}`
  const ofPage = views.filter(({ path }) => path.split('?', 1)[0] === pathname)
  const isSaved = ofPage.some(({ path }) => path === here)
  const maySave = mayChange && searchStr !== '' && !isSaved
  if (ofPage.length === 0 && !maySave) return null
  return (
    <nav ref={nav} className={classes.views} aria-label="Saved views" tabIndex={-1}>
      {ofPage.map((view) => (
        <Chip
          key={view.id}
          view={view}
          isHere={view.path === here}
          mayDelete={mayChange}
          onDeleted={() => nav.current?.focus()}
        />
      ))}
      {maySave && (
        <Suspense>
          <SaveView path={here} />
        </Suspense>
      )}
    </nav>
  )
}

interface ChipProps {
  view: SavedViewRecord
  isHere: boolean
  mayDelete: boolean
  /** The button that was clicked is gone: the focus needs another place. */
  onDeleted: () => void
}

function Chip({ view, isHere, mayDelete, onDeleted }: ChipProps) {
  const remove = useDeleteView()
  const [to = '/', search = ''] = view.path.split(/\?(.*)/s)
  return (
    <span className={classes.chip} data-here={isHere || undefined}>
      <Link
        to={to}
        search={Object.fromEntries(new URLSearchParams(search)) as object}
        aria-current={isHere ? 'page' : undefined}
      >
        {view.name}
      </Link>
      {mayDelete && isHere && (
        <CloseButton
          size="xs"
          aria-label={`Delete the view ${view.name}`}
          onClick={() => {
            if (!remove.isPending) remove.mutateAsync(view.id).then(onDeleted, notDeleted)
          }}
        />
      )}
    </span>
  )
}

const notDeleted = notifyOf('Not deleted')
