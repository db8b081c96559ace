/*
** SQLite's amalgamation less what the vault never uses (views, virtual tables, ALTER, ANALYZE, VACUUM, most of the
** functions of SQL).
**
** The amalgamation's grammar still has those statements: its options leave out the code behind them and say that such
** a build does not link. So the missing functions stand here and refuse the statement, as any syntax error is refused.
** Migrations therefore make new tables and copy.
*/
#include <time.h>

/* CURRENT_TIMESTAMP is never asked for; with these two, the C library's formatting and locales would come along. */
#define gmtime(moment) ((struct tm *)0)
#define strftime(buffer, size, format, moment) ((size_t)0)

/*
** The amalgamation registers all of its functions, so that the linker must keep them. By these three lines its own
** definition, which names its parameters (void), becomes `registerAll`, which is never called; its call, which names
** none, reaches `registerNeeded` below. A schema that names another function is refused as "no such function".
*/
#define sqlite3RegisterBuiltinFunctions(parameters) registerFunctions_##parameters
#define registerFunctions_void registerAll(void)
#define registerFunctions_ registerNeeded()
static void registerNeeded(void);

#include "sqlite3.c"

/* What the vault's tables (enclave/src/vault/schema.zig) and its own queries call. */
static void registerNeeded(void){
  static FuncDef needed[] = {
    FUNCTION2(length, 1, 0, 0, lengthFunc, SQLITE_FUNC_LENGTH),
    INLINE_FUNC(coalesce, -4, INLINEFUNC_coalesce, 0),
    WAGGREGATE(count, 0, 0, 0, countStep, countFinalize, 0, 0, SQLITE_FUNC_COUNT|SQLITE_FUNC_ANYORDER),
  };
  sqlite3InsertBuiltinFuncs(needed, ArraySize(needed));
}

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
SQLITE_PRIVATE void sqlite3Vacuum(Parse *p, Token *a, Expr *into){
  (void)a; sqlite3ExprDelete(p->db, into); refuse(p);
}
/* For changes of a file by another process; the option that leaves VACUUM out takes its definition away. */
SQLITE_PRIVATE void sqlite3PagerClearCache(Pager *pager){
  if( pager->tempFile==0 ) pager_reset(pager);
}
