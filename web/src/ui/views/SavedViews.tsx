import { Button, CloseButton, Popover, Stack, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useRouterState } from '@tanstack/react-router'
import { Bookmark } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { useSession } from '../../api/session.ts'
import { type SavedViewRecord, useDeleteView, useSaveView, viewsQuery } from '../../api/views.ts'
import classes from './SavedViews.module.css'

/** The views of this page that anyone saved, as chips; and saving the one that is shown. */
export function SavedViews() {
  const { mayChange } = useSession()
  const { data: views = [] } = useQuery(viewsQuery)
  const { pathname, searchStr } = useRouterState({ select: ({ location }) => location })
  const here = `${pathname}${searchStr}`
  const ofPage = views.filter(({ path }) => path.split('?', 1)[0] === pathname)
  const isSaved = ofPage.some(({ path }) => path === here)
  const maySave = mayChange && searchStr !== '' && !isSaved
  if (ofPage.length === 0 && !maySave) return null
  return (
    <nav className={classes.views} aria-label="Saved views">
      {ofPage.map((view) => (
        <Chip key={view.id} view={view} isHere={view.path === here} mayDelete={mayChange} />
      ))}
      {maySave && <Save path={here} />}
    </nav>
  )
}

function Chip({ view, isHere, mayDelete }: { view: SavedViewRecord; isHere: boolean; mayDelete: boolean }) {
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
          disabled={remove.isPending}
          onClick={() => remove.mutate(view.id)}
        />
      )}
    </span>
  )
}

function Save({ path }: { path: string }) {
  const [isOpen, setOpen] = useState(false)
  const [name, setName] = useState('')
  const save = useSaveView()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const done = () => {
      setOpen(false)
      setName('')
    }
    save.mutate({ name, path }, { onSuccess: done })
  }
  return (
    <Popover opened={isOpen} onChange={setOpen} trapFocus position="bottom-start">
      <Popover.Target>
        <Button
          variant="subtle"
          size="compact-sm"
          leftSection={<Bookmark size={14} aria-hidden />}
          onClick={() => setOpen(!isOpen)}
        >
          Save view
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <form onSubmit={submit}>
          <Stack gap="sm">
            <TextInput
              label="Name"
              description="Everyone sees it"
              maxLength={60}
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
              error={save.error?.message}
              data-autofocus
            />
            <Button type="submit" loading={save.isPending} disabled={name.trim() === ''}>
              Save
            </Button>
          </Stack>
        </form>
      </Popover.Dropdown>
    </Popover>
  )
}
