import { useLocalStorage } from '@mantine/hooks'
import { Outlet } from '@tanstack/react-router'
import { useStream } from '../../api/stream.ts'
import classes from './Frame.module.css'
import { OfflineBanner } from './OfflineBanner.tsx'
import { Rail } from './Rail.tsx'
import { TopBar } from './TopBar.tsx'
import { useCutOff } from './use-cut-off.ts'
import { useTabStatus } from './use-tab-status.ts'

/** What stands around every page: the rail, the top bar, and the word that we are cut off. */
export function Frame() {
  const [isNarrow, setNarrow] = useLocalStorage({ key: 'tagwarden-rail-narrow', defaultValue: false })
  const cutOff = useCutOff()
  const worst = useTabStatus(cutOff !== null)
  useStream()
  return (
    <div className={classes.frame} data-narrow={isNarrow || undefined}>
      <a className={classes.skip} href="#content">
        Skip to the content
      </a>
      <Rail worst={worst} isNarrow={isNarrow} onToggle={() => setNarrow(!isNarrow)} />
      <TopBar />
      <main id="content" className={classes.main} tabIndex={-1}>
        <Outlet />
      </main>
      <OfflineBanner since={cutOff} />
    </div>
  )
}
