/*
** SQLite's amalgamation less what the vault never uses (views, virtual tables, ALTER, ATTACH, ANALYZE, VACUUM).
**
** The amalgamation's grammar still has those statements: its options leave out the code behind them and say that such
** a build does not link. So the missing functions stand here and refuse the statement, as any syntax error is refused.
** Migrations therefore make new tables and copy.
*/
#include <time.h>

/* CURRENT_TIMESTAMP is never asked for; with these two, the C library's formatting and locales would come along. */
#define gmtime(moment) ((struct tm *)0)
#define strftime(buffer, size, format, moment) ((size_t)0)

#include "sqlite3.c"

static void refuse(Parse *parse){
  sqlite3ErrorMsg(parse, "not available");
}

SQLITE_PRIVATE void sqlite3AlterRenameTable(Parse *p, SrcList *s, Token *a){
  (void)a; sqlite3SrcListDelete(p->db, s); refuse(p);
}
SQLITE_PRIVATE void sqlite3AlterRenameColumn(Parse *p, SrcList *s, Token *a, Token *b){
  (void)a; (void)b; sqlite3SrcListDelete(p->db, s); refuse(p);
}
SQLITE_PRIVATE void sqlite3AlterDropConstraint(Parse *p, SrcList *s, Token *a, Token *b){
  (void)a; (void)b; sqlite3SrcListDelete(p->db, s); refuse(p);
}
SQLITE_PRIVATE void sqlite3AlterSetNotNull(Parse *p, SrcList *s, Token *a, Token *b){
  (void)a; (void)b; sqlite3SrcListDelete(p->db, s); refuse(p);
}
SQLITE_PRIVATE void sqlite3AlterAddConstraint(
  Parse *p, SrcList *s, Token *a, Token *b, const char *c, int n, Expr *e
){
  (void)a; (void)b; (void)c; (void)n; sqlite3SrcListDelete(p->db, s); sqlite3ExprDelete(p->db, e); refuse(p);
}
SQLITE_PRIVATE void sqlite3AlterFinishAddColumn(Parse *p, Token *a){ (void)a; refuse(p); }
SQLITE_PRIVATE void sqlite3AlterBeginAddColumn(Parse *p, SrcList *s){ sqlite3SrcListDelete(p->db, s); refuse(p); }
SQLITE_PRIVATE void sqlite3AlterDropColumn(Parse *p, SrcList *s, const Token *a){
  (void)a; sqlite3SrcListDelete(p->db, s); refuse(p);
}
SQLITE_PRIVATE void sqlite3VtabBeginParse(Parse *p, Token *a, Token *b, Token *c, int n){
  (void)a; (void)b; (void)c; (void)n; refuse(p);
}
SQLITE_PRIVATE void sqlite3VtabFinishParse(Parse *p, Token *a){ (void)a; refuse(p); }
SQLITE_PRIVATE void sqlite3VtabArgInit(Parse *p){ refuse(p); }
SQLITE_PRIVATE void sqlite3VtabArgExtend(Parse *p, Token *a){ (void)a; refuse(p); }
SQLITE_PRIVATE void sqlite3Reindex(Parse *p, Token *a, Token *b){ (void)a; (void)b; refuse(p); }
SQLITE_PRIVATE void sqlite3Analyze(Parse *p, Token *a, Token *b){ (void)a; (void)b; refuse(p); }
SQLITE_PRIVATE void sqlite3CreateView(
  Parse *p, Token *a, Token *b, Token *c, ExprList *e, Select *s, int temporary, int lenient
){
  (void)a; (void)b; (void)c; (void)temporary; (void)lenient;
  sqlite3ExprListDelete(p->db, e); sqlite3SelectDelete(p->db, s); refuse(p);
}
