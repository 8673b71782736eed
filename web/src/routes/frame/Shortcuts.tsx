import { Kbd } from '@mantine/core'
import { useSession } from '../../api/session.ts'
import { Dialog } from '../../ui/Dialog.tsx'
import classes from './Shortcuts.module.css'

interface Shortcut {
  keys: readonly string[]
  does: string
  /** Only for people who may change something. */
  isChange?: boolean
}

const GROUPS: readonly { title: string; shortcuts: readonly Shortcut[] }[] = [
  {
    title: 'Every page',
    shortcuts: [
      { keys: ['/', 'Ctrl K'], does: 'Search' },
      { keys: ['?'], does: 'Show this list' },
    ],
  },
  {
    title: 'Incidents and alerts',
    shortcuts: [
      { keys: ['j', 'k'], does: 'Move down and up' },
      { keys: ['↵', 'o'], does: 'Open' },
      { keys: ['e'], does: 'Unfold an incident' },
      { keys: ['a'], does: 'Acknowledge', isChange: true },
      { keys: ['s'], does: 'Silence', isChange: true },
      { keys: ['x'], does: 'Select', isChange: true },
      { keys: ['u'], does: 'Undo', isChange: true },
    ],
  },
  {
    title: 'Charts of a site',
    shortcuts: [
      { keys: ['Esc'], does: 'Zoom out' },
      { keys: ['n'], does: 'Add an annotation', isChange: true },
    ],
  },
]

/** All keyboard shortcuts. The key `?` opens it. */
export function Shortcuts({ onClose }: { onClose: () => void }) {
  const { mayChange } = useSession()
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      {GROUPS.map(({ title, shortcuts }) => (
        <section key={title} className={classes.group}>
          <h3>{title}</h3>
          <dl className={classes.list}>
            {shortcuts
              .filter(({ isChange }) => mayChange || isChange !== true)
              .map(({ keys, does }) => (
                <div key={does} className={classes.shortcut}>
                  <dt>{does}</dt>
                  {keys.map((key) => (
                    <dd key={key}>
                      <Kbd>{key}</Kbd>
                    </dd>
                  ))}
                </div>
              ))}
          </dl>
        </section>
      ))}
    </Dialog>
  )
}
