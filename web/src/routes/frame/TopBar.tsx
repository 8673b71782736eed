import { Kbd, UnstyledButton } from '@mantine/core'
import { Search } from 'lucide-react'
import { Crumbs } from './Crumbs.tsx'
import { SearchDialog, useSearchDialog } from './search/SearchDialog.tsx'
import { ThemeSwitch } from './ThemeSwitch.tsx'
import classes from './TopBar.module.css'
import { UserMenu } from './UserMenu.tsx'

/** Where one is, and what every page has: search, theme, who is signed in. */
export function TopBar() {
  const search = useSearchDialog()
  return (
    <header className={classes.bar}>
      <Crumbs />
      <UnstyledButton className={classes.search} onClick={search.open} onPointerEnter={search.prepare}>
        <Search size={16} aria-hidden />
        <span className={classes.word}>Search</span>
        <Kbd className={classes.key} aria-hidden>
          /
        </Kbd>
      </UnstyledButton>
      <ThemeSwitch />
      <UserMenu />
      <SearchDialog {...search} />
    </header>
  )
}
